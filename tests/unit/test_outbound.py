"""A client that cannot be made as the environment says is told of in one way."""

import pytest

from shared import outbound
from shared.errors import Misconfigured

LOOK_AT = "; look at HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImportError("socksio is not installed"), "socksio is not installed"),
        (FileNotFoundError(2, "No such file or directory"), "[Errno 2] No such file or directory"),
        (ValueError("http://user:secret@proxy"), "ValueError"),
    ],
)
def test_what_is_wrong_is_said_without_an_address(error: Exception, said: str) -> None:
    """It may hold a password."""
    with pytest.raises(Misconfigured) as caught, outbound.usable():
        raise error
    assert str(caught.value) == f"settings: the environment's proxies or certificates cannot be used: {said}{LOOK_AT}"
