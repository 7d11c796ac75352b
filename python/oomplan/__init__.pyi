from oomplan._answers import Answer as Answer, Diagnosis as Diagnosis, Estimate as Estimate, Fix as Fix, Gate as Gate
from oomplan._answers import Sweep as Sweep
from oomplan._dedupe import deduplicate_indices as deduplicate_indices
from oomplan._errors import Bug as Bug, ConfigError as ConfigError, DataError as DataError
from oomplan._errors import OomplanError as OomplanError, SkippedRow as SkippedRow, Undecided as Undecided
from oomplan._errors import UsageError as UsageError
from oomplan._functions import diagnose as diagnose, estimate as estimate, fix as fix, gate as gate
from oomplan._functions import max_batch_size as max_batch_size, sweep as sweep
from oomplan._hooks import install_excepthook as install_excepthook
from oomplan._hooks import load_ipython_extension as load_ipython_extension
from oomplan._measure import Measured as Measured, measure as measure
from oomplan._reader import streaming_dataset_reader as streaming_dataset_reader

__version__: str
