"""python -m cudnn_ci: the same as cudnn-ci."""
import sys

from cudnn_ci import main

sys.exit(main())
