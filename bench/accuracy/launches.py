"""Draws a launcher's config at random: several processes under DDP, FSDP or DeepSpeed, as `accelerate launch` reads it."""

ZERO = "deepspeed.json"


def start(dice):
    world = dice.choice([1, 2, 2, 3, 4, 4, 8, 8, 16])
    of = {"compute_environment": "LOCAL_MACHINE", "debug": False, "machine_rank": 0, "main_training_function": "main",
          "num_machines": 2 if world == 16 else 1, "num_processes": world, "rdzv_backend": "static", "same_network": True, "use_cpu": False}
    if world == 16:
        of |= {"main_process_ip": "10.0.0.1", "main_process_port": 29500}
    return of


def ddp(dice, of, config):
    of["distributed_type"] = "MULTI_GPU"
    for often, key, value in ((4, "ddp_find_unused_parameters", dice.choice([True, False])), (4, "ddp_bucket_cap_mb", dice.choice([1, 100])),
                              (4, "ddp_broadcast_buffers", dice.choice([True, False]))):
        if dice.randrange(often) == 0:
            config[key] = value


def fsdp(dice, of, config):
    version = dice.choice([1, 2, 2])
    checkpoints = dice.randrange(4) == 0
    if checkpoints:  # The Trainer takes one way of checkpointing or the other.
        config["gradient_checkpointing"] = False
        config.pop("gradient_checkpointing_kwargs", None)
    keys = {"fsdp_version": version, "fsdp_auto_wrap_policy": dice.choice(["TRANSFORMER_BASED_WRAP"] * 4 + ["SIZE_BASED_WRAP", "NO_WRAP"]),
            "fsdp_cpu_ram_efficient_loading": dice.choice([True, True, False]), "fsdp_offload_params": dice.randrange(5) == 0,
            "fsdp_state_dict_type": dice.choice(["FULL_STATE_DICT", "SHARDED_STATE_DICT"]), "fsdp_activation_checkpointing": checkpoints}
    if keys["fsdp_auto_wrap_policy"] == "SIZE_BASED_WRAP":
        keys["fsdp_min_num_params"] = dice.choice([1_000_000, 100_000_000])
    if version == 1:
        keys |= {"fsdp_sharding_strategy": dice.choice(["FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD", "HYBRID_SHARD_ZERO2", "NO_SHARD"]),
                 "fsdp_backward_prefetch": dice.choice(["BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH"]),
                 "fsdp_forward_prefetch": dice.choice([True, False]), "fsdp_sync_module_states": True,
                 "fsdp_use_orig_params": dice.choice([True, True, False])}
    else:
        keys["fsdp_reshard_after_forward"] = dice.choice([True, True, False])
        if of["num_processes"] in (4, 8, 16) and dice.randrange(4) == 0:
            of["parallelism_config"] = {"parallelism_config_dp_replicate_size": 2, "parallelism_config_dp_shard_size": of["num_processes"] // 2,
                                        "parallelism_config_tp_size": 1, "parallelism_config_cp_size": 1}
    of |= {"distributed_type": "FSDP", "fsdp_config": keys}


def zero(dice, of):
    """The JSON that a launcher's config names."""
    stage = dice.choice([1, 2, 3, 3])
    keys = {"stage": stage}
    rows = [(2, "reduce_bucket_size", dice.choice(["auto", 5e8, 2e7, 1e6])), (3, "allgather_bucket_size", dice.choice([5e8, 2e8, 1e6])),
            (2, "overlap_comm", dice.choice([True, False])), (3, "contiguous_gradients", dice.choice([True, False])),
            (4, "reduce_scatter", dice.choice([True, False])), (8, "round_robin_gradients", True),
            (4, "offload_optimizer", {"device": "cpu", "pin_memory": True})]
    if stage == 3:
        rows += [(3, "stage3_prefetch_bucket_size", dice.choice(["auto", 5e7, 1e5, 0])),
                 (3, "stage3_param_persistence_threshold", dice.choice(["auto", 0, 1e4, 1e6])), (4, "sub_group_size", dice.choice([1e9, 1e8])),
                 (4, "stage3_max_live_parameters", dice.choice([1e9, 1e7])), (4, "stage3_max_reuse_distance", dice.choice([1e9, 1e7])),
                 (4, "offload_param", {"device": "cpu", "pin_memory": True}), (3, "stage3_gather_16bit_weights_on_model_save", True)]
    keys |= {key: value for often, key, value in rows if dice.randrange(often) == 0}
    of |= {"distributed_type": "DEEPSPEED", "deepspeed_config": {"deepspeed_config_file": ZERO, "zero3_init_flag": dice.choice([True, False])}}
    return {"bf16": {"enabled": "auto"}, "zero_optimization": keys, "gradient_accumulation_steps": "auto", "gradient_clipping": "auto",
            "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto"}


def launch(dice, config):
    """The launcher's config, and the JSON that it names or None; changes the trainer's config where both have a say."""
    of = start(dice)
    kind = dice.choice(["ddp", "fsdp", "fsdp", "zero", "zero"])
    if kind == "zero":
        return of, zero(dice, of)
    of["mixed_precision"] = dice.choice(["bf16", "bf16", "no"])
    (ddp if kind == "ddp" else fsdp)(dice, of, config)
    return of, None
