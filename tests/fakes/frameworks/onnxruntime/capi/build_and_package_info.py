import fake_framework as fake

cuda_version = fake.version("FAKE_BUILT_CUDA", "13.0")
