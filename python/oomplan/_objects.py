"""Configs that are objects of transformers, TRL and peft, told by what they have, so that none of these is imported."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import re
import shutil
import sys
import tempfile
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from oomplan._errors import ConfigError, OomplanError, Undecided, UsageError

# TRL's and transformers' classes, and --trainer's names for who reads them. Another one of TRL's is its trainer's name.
TRAINERS = {"TrainingArguments": "trainer", "Seq2SeqTrainingArguments": "trainer"}

# LoraConfig's fields, as TRL's ModelConfig has them.
LORA_KEYS = {
    "r": "lora_r",
    "lora_alpha": "lora_alpha",
    "lora_dropout": "lora_dropout",
    "target_modules": "lora_target_modules",
    "target_parameters": "lora_target_parameters",
    "modules_to_save": "lora_modules_to_save",
    "use_rslora": "use_rslora",
    "use_dora": "use_dora",
}
# Those of any adapter's config that change no tensor's size: names, numbers within an op, how a checkpoint is read.
WITHOUT_EFFECT = {
    "alpha",
    "alpha_pattern",
    "auto_mapping",
    "base_model_name_or_path",
    "fan_in_fan_out",
    "inference_mode",
    "init_weights",
    "peft_type",
    "peft_version",
    "revision",
    "task_type",
}
BNB_KEYS = {
    "load_in_4bit": "load_in_4bit",
    "load_in_8bit": "load_in_8bit",
    "bnb_4bit_quant_type": "bnb_4bit_quant_type",
    "bnb_4bit_use_double_quant": "use_bnb_nested_quant",
    "bnb_4bit_quant_storage": "bnb_4bit_quant_storage",
}
BNB_DEFAULTS = {
    "llm_int8_threshold": 6.0,
    "llm_int8_skip_modules": None,
    "llm_int8_enable_fp32_cpu_offload": False,
    "llm_int8_has_fp16_weight": False,
}
# How such an object can be made where there is no GPU, and what it sets with it.
OF_A_MACHINE_WITHOUT_GPU = ("use_cpu", "dataloader_pin_memory")


class Said(NamedTuple):
    """What is said beside a TrainingArguments."""

    model: Any = None
    peft: Any = None
    quantization: Any = None
    dtype: Any = None


@dataclasses.dataclass
class Held:
    """A config as the command line takes it: its word, the text for "-", more options, and files as long as it lives."""

    word: Any
    given: bytes = b""
    options: list[str] = dataclasses.field(default_factory=list)
    files: Any = None


class Folder:
    """A temporary folder, as long as it is held."""

    def __init__(self, prefix: str) -> None:
        self.name = tempfile.mkdtemp(prefix=prefix)
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def config_of(config: Any, said: Said) -> Held:
    """The config, with what is said beside it."""
    if isinstance(config, Held):
        return config
    if isinstance(config, (str, bytes, os.PathLike)):
        _nothing_beside(said, "a config's path or a model's name")
        return Held(config)
    if isinstance(config, Mapping):
        _nothing_beside(said, "a mapping")
        return Held("-", _json(config))
    if hasattr(config, "per_device_train_batch_size") and hasattr(config, "to_dict"):
        return _of_arguments(config, said)
    if hasattr(config, "model_type") and hasattr(config, "to_dict"):
        _nothing_beside(said, "a PretrainedConfig")
        files = _folder_of(config)
        return Held(files.name, files=files)
    raise UsageError(
        "a config is a path, a mapping, a model's id, a TrainingArguments or a PretrainedConfig, not a "
        + type(config).__name__
    )


def _nothing_beside(said: Said, what: str) -> None:
    if any(one is not None for one in said):
        raise UsageError(f"model, peft, quantization and dtype go with a TrainingArguments, not with {what}")


def plain(value: Any) -> Any:
    """A value as JSON has it: of enumerations the value, of torch's dtypes the name, of sets a sorted list."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(one) for one in value)
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    text = str(value)
    if text.startswith("torch."):
        return text.removeprefix("torch.")
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    raise ConfigError(f"a {type(value).__name__} is nothing that a config can say")


def _json(value: Any) -> bytes:
    try:
        return json.dumps(plain(value), allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        if isinstance(error, OomplanError):
            raise
        raise ConfigError(f"the config cannot be written as JSON: {error}") from error


def _framework_class(arguments: Any) -> type:
    """The class of transformers or TRL that it is, or is derived from."""
    for one in type(arguments).__mro__:
        if one.__module__.partition(".")[0] in ("trl", "transformers"):
            return one
    return type(arguments)


def _defaults(cls: type) -> dict[str, Any]:
    if not dataclasses.is_dataclass(cls):
        return {}
    out = {}
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            out[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            out[field.name] = field.default_factory()
        else:
            out[field.name] = None
    return out


def keys_of_arguments(arguments: Any) -> dict[str, Any]:
    """What it says that its class does not say by itself. Tokens are left out, which it masks itself."""
    cls = _framework_class(arguments)
    said, defaults = arguments.to_dict(), _defaults(cls)
    unknown = sorted(set(said) - set(defaults)) if defaults else []
    if unknown and type(arguments) is not cls:
        names = ", ".join(unknown)
        warnings.warn(f"{type(arguments).__name__}: {names} are not {cls.__name__}'s and are not read", stacklevel=4)
    without_gpu = OF_A_MACHINE_WITHOUT_GPU if said.get("use_cpu") else ()
    out = {}
    for key, value in said.items():
        masked = isinstance(value, str) and value == f"<{key.upper()}>"
        if masked or key in without_gpu or (defaults and key not in defaults):
            continue
        if key not in defaults or plain(value) != plain(defaults[key]):
            out[key] = plain(value)
    return {key: value for key, value in out.items() if value not in (None, [], "")}


def trainer_of(arguments: Any) -> str:
    """--trainer's name for who reads it: "sft" for SFTConfig."""
    name = _framework_class(arguments).__name__
    return TRAINERS.get(name) or name.removesuffix("Config").lower()


def _versions(arguments: Any) -> list[str]:
    """Of the packages that are loaded. One between releases names none."""
    out = []
    for package in ("transformers", "trl"):
        version = getattr(sys.modules.get(package), "__version__", "")
        used = package == "transformers" or _framework_class(arguments).__module__.startswith("trl")
        if version and used and version.replace(".", "").isdigit():
            out.append(f"--framework={package}=={version}")
    return out


def _of_arguments(arguments: Any, said: Said) -> Held:
    keys = keys_of_arguments(arguments)
    peft, quantization, dtype = said.peft, said.quantization, said.dtype
    files = None
    if said.model is not None and hasattr(said.model, "named_parameters"):
        module = _of_module(said.model, peft)
        peft = module.pop("peft")
        quantization = quantization or module.pop("quantization", None)
        dtype = dtype or module.pop("dtype", None)
        files = _folder_of(module.pop("config"))
        keys |= {key: value for key, value in module.items() if value is not None and key != "quantization"}
        keys["model_name_or_path"] = files.name
    elif said.model is not None and hasattr(said.model, "to_dict"):
        files = _folder_of(said.model)
        keys["model_name_or_path"] = files.name
    elif said.model is not None:
        keys["model_name_or_path"] = os.fspath(said.model)
    if dtype is not None:
        keys["dtype"] = plain(dtype)
    settings = []
    if peft is not None:
        keys |= adapter_keys(peft)
        settings = [f"--set={setting}" for setting in adapter_settings(peft)]
    if quantization is not None:
        keys |= bnb_keys(quantization, keys.get("dtype"))
    options = [f"--trainer={trainer_of(arguments)}", "--dialect=hf", *_versions(arguments), *settings]
    return Held("-", _json(keys), options, files)


def _unmodelled(what: str) -> Undecided:
    message = f"{what} affects memory and is not modelled yet"
    found = {"severity": "error", "code": "python/unmodelled", "message": message}
    return Undecided(f"error: {message} [python/unmodelled]", [{**found, "file": None, "hint": None}])


def _says_nothing(value: Any) -> bool:
    """Whether an option is off; the number of a layer is not, also where it is 0."""
    return value is None or value is False or value in ([], {}, "none") or (isinstance(value, float) and value == 0.0)


def adapter_keys(config: Any) -> dict[str, Any]:
    """peft's config as TRL's ModelConfig says it. Raises Undecided for what changes memory and no key says."""
    said = plain(config.to_dict())
    kind = said.get("peft_type", "LORA")
    if kind not in ADAPTERS:
        raise _unmodelled(f"peft's {kind}")
    own = ADAPTERS[kind]
    out: dict[str, Any] = {"use_peft": True}
    for name, value in said.items():
        if name in own.keys:
            if value not in (None, []) and (kind != "OFT" or name != "r" or value):
                out[own.keys[name]] = _one_target(value) if name == "target_modules" else value
        elif name in own.facts or name in WITHOUT_EFFECT or name in own.without_effect:
            continue
        elif value != own.played[name] if name in own.played else not _says_nothing(value):
            raise _unmodelled(f"{type(config).__name__}.{name}={value!r}")
    if "r" not in own.keys or not said.get("r"):
        out["lora_r"] = 1  # It has none; a script's config is asked for one.
    return out


def adapter_settings(config: Any) -> list[str]:
    """What no key of TRL's says of it, as --set takes it."""
    said = plain(config.to_dict())
    kind = said.get("peft_type", "LORA")
    out = [] if kind == "LORA" else [f"plan.adapter={kind.lower()}"]
    for name, write in ADAPTERS[kind].facts.items():
        if name in said:
            out += write(f"{type(config).__name__}.{name}", said[name])
    return out


def _init_of(name: str, value: Any) -> list[str]:
    if value in (True, False, "gaussian", "orthogonal"):
        return []
    if value == "olora" or isinstance(value, str) and re.fullmatch(r"pissa_niter_\d+", value):
        return [f"plan.lora_init={'olora' if value == 'olora' else 'pissa_niter'}"]
    raise _unmodelled(f"{name}={value!r}")


def _feedforward_of(name: str, value: Any) -> list[str]:
    if not isinstance(value, list):  # peft's own choice for the model, or an expression
        raise _unmodelled(f"{name}={value!r}")
    return [f"plan.ia3_feedforward={json.dumps(value)}"]


def _block_of(_: str, value: Any) -> list[str]:
    return [f"plan.oft_block_size={value}"]


def _one_target(targets: Any) -> Any:
    """TRL hands peft a list of one target as an expression of whole names; peft itself takes it for a name's end."""
    if isinstance(targets, list) and len(targets) == 1 and targets[0] != "all-linear":
        return [r"(.*\.)?" + re.escape(targets[0])]
    return [targets] if isinstance(targets, str) else targets


class Adapter(NamedTuple):
    """How a config of peft's is said."""

    keys: Mapping[str, str]  # by keys of TRL's ModelConfig
    facts: Mapping[str, Callable[[str, Any], list[str]]] = {}  # by facts
    played: Mapping[str, Any] = {}  # The one value that is played of those that are not nothing.
    without_effect: frozenset[str] = frozenset()


RANKED = {"r": "lora_r", "target_modules": "lora_target_modules", "modules_to_save": "lora_modules_to_save"}
ADAPTERS = {
    "LORA": Adapter(
        LORA_KEYS,
        {"init_lora_weights": _init_of},
        without_effect=frozenset({"arrow_config", "megatron_core", "qalora_group_size"}),
    ),
    "IA3": Adapter(
        {"target_modules": "lora_target_modules", "modules_to_save": "lora_modules_to_save"},
        {"feedforward_modules": _feedforward_of},
        without_effect=frozenset({"init_ia3_weights"}),
    ),
    "VERA": Adapter(
        RANKED | {"vera_dropout": "lora_dropout"},
        without_effect=frozenset({"d_initial", "projection_prng_key", "save_projection"}),
    ),
    "OFT": Adapter(
        RANKED,
        {"oft_block_size": _block_of},
        {"use_cayley_neumann": True, "num_cayley_neumann_terms": 5},
        frozenset({"eps"}),
    ),
    "LOHA": Adapter(RANKED),
    "LOKR": Adapter(RANKED, played={"decompose_factor": -1}),
}


def bnb_keys(config: Any, dtype: Any) -> dict[str, Any]:
    """A BitsAndBytesConfig as TRL's ModelConfig says it, whose 4-bit weights are computed in the model's own dtype."""
    said = plain(config if isinstance(config, Mapping) else config.to_dict())
    if said.get("quant_method", "bitsandbytes") != "bitsandbytes":
        raise _unmodelled(f"quantization by {said['quant_method']}")
    for name, default in BNB_DEFAULTS.items():
        if said.get(name, default) != default:
            raise _unmodelled(f"BitsAndBytesConfig.{name}={said[name]!r}")
    out = {key: said[name] for name, key in BNB_KEYS.items() if said.get(name) not in (None, False)}
    if not out.get("load_in_4bit"):
        return {key: value for key, value in out.items() if key == "load_in_8bit"}
    compute = said.get("bnb_4bit_compute_dtype", "float32")
    if compute != (dtype or "float32"):
        raise _unmodelled(f"bnb_4bit_compute_dtype={compute!r} beside a model of {dtype or 'float32'}")
    return out


def _of_module(model: Any, peft: Any) -> dict[str, Any]:
    """What a transformers model, or peft's around one, says of itself."""
    adapters = getattr(model, "peft_config", None)
    if peft is None and isinstance(adapters, Mapping) and adapters:
        if len(adapters) > 1:
            raise _unmodelled("more than one adapter in a model")
        peft = next(iter(adapters.values()))
    base = model.get_base_model() if adapters and hasattr(model, "get_base_model") else model
    config = getattr(base, "config", None)
    if not hasattr(config, "to_dict"):
        raise UsageError(f"{type(base).__name__} has no config that says what it is")
    if peft is None:
        frozen = [name for name, one in model.named_parameters() if not one.requires_grad]
        if frozen:
            raise _unmodelled(f"parameters that are not trained ({frozen[0]} and {len(frozen) - 1} more)")
    attention = getattr(config, "_attn_implementation", None)
    quantized = getattr(config, "quantization_config", None)
    dtype = getattr(config, "dtype", None) if quantized else getattr(base, "dtype", None)
    return {
        "config": config,
        "peft": peft,
        "quantization": quantized,
        "dtype": plain(dtype) if dtype is not None else None,
        "attn_implementation": attention if isinstance(attention, str) else None,
    }


def _folder_of(config: Any) -> Folder:
    """A model's folder with nothing but its config.json, as long as it is held."""
    said = plain(config.to_dict())
    said.pop("quantization_config", None)
    folder = Folder("oomplan-model-")
    with open(os.path.join(folder.name, "config.json"), "wb") as file:
        file.write(_json(said))
    return folder


