import fake_framework as fake

if not fake.built_for_cuda():
    raise ImportError("no plugin")


def cuda_runtime_build_version():
    major, minor = fake.numbers("FAKE_BUILT_CUDA", "13.0")
    return major * 1000 + minor * 10


def cudnn_build_version():
    return fake.cudnn_code("FAKE_BUILT_CUDNN")
