from typing import Optional

__version__ = '9.9.9+cu130'
cuda: Optional[str] = '13.0'
hip: Optional[str] = None
