"""What the environment says of connections to others: proxies and certificates, read by whoever makes a client."""

from collections.abc import Iterator
from contextlib import contextmanager

from shared.errors import Misconfigured

_LOOK_AT = "look at HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"


@contextmanager
def usable() -> Iterator[None]:
    """Make an HTTP client in the block, and nothing else.

    Raises:
        Misconfigured: it cannot be made as the environment says. An address, which may hold a password, is not shown.
    """
    try:
        yield
    except Exception as error:  # each library has its own; of files and of what is not installed they may speak
        said = str(error) if isinstance(error, ImportError | OSError) else type(error).__name__
        problem = f"the environment's proxies or certificates cannot be used: {said}"
        raise Misconfigured("settings", problem, _LOOK_AT) from error
