"""An allreduce of the C API by ctypes, in the same process as torch: what the torch path is measured against."""

from __future__ import annotations

import ctypes

FLOAT32, SUM = 0, 0


class CApi:
    """A communicator over the processes that share the file `store_path`, with a runtime of its own."""

    def __init__(self, store_path: str, rank: int, size: int) -> None:
        import isthmus

        isthmus.options()  # loads the extension module, and with it the library
        self.library = ctypes.CDLL("libisthmus.so.0")
        self.library.isthmus_last_error.restype = ctypes.c_char_p
        self.library.isthmus_allreduce.argtypes = [ctypes.c_void_p] * 3 + [
            ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p
        ]  # fmt: skip
        options, self.runtime, self.store, self.communicator = (ctypes.c_void_p() for _ in range(4))
        self._check(self.library.isthmus_options_create(ctypes.byref(options)))
        self._check(self.library.isthmus_options_load_environment(options))
        self._check(self.library.isthmus_runtime_create(options, ctypes.byref(self.runtime)))
        self._check(self.library.isthmus_store_create_file(store_path.encode(), ctypes.byref(self.store)))
        created = ctypes.byref(self.communicator)
        self._check(self.library.isthmus_communicator_create(self.runtime, self.store, rank, size, None, created))
        self.library.isthmus_options_destroy(options)

    def _check(self, status: int) -> None:
        if status != 0:
            raise RuntimeError(self.library.isthmus_last_error().decode())

    def allreduce(self, tensor) -> None:
        pointer = tensor.data_ptr()
        self._check(
            self.library.isthmus_allreduce(
                self.communicator, pointer, pointer, tensor.numel(), FLOAT32, SUM, None, None
            )
        )

    def close(self) -> None:
        self.library.isthmus_communicator_destroy(self.communicator)
        self.library.isthmus_store_destroy(self.store)
        self.library.isthmus_runtime_destroy(self.runtime)
