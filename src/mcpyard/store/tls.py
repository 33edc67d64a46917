"""Trust in the certificate of the user's own yard."""

import ssl


def trusting(certificate: str) -> ssl.SSLContext:
    """A context that takes this very certificate as the proof, whoever signed it."""
    context = ssl.create_default_context(cafile=certificate)
    # Whatever names it bears: it was found in the yard's own folder.
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context
