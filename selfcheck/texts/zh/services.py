"""The parts of the system that may be away or want something mended, as errors name them."""

from typing import Final

TEXTS: Final = {
    "bus": "总线",
    "store": "存储",
    "gateway": "网关",
    "service": "服务",
    "services": "本机服务",
    "exercises": "练习",
    "settings": "设置",
    "kit": "实验套件",
}
