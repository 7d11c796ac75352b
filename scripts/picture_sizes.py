#!/usr/bin/env python3
"""Prints what transformers' image processors make of pictures of random sizes: tests/data/pictures/sizes.txt.

    python scripts/picture_sizes.py > tests/data/pictures/sizes.txt

A line: the rule of src/estimate/pictures.cpp with its numbers, a picture's height and width; what comes of it: height
and width, or tiles; or "no" where there is no figure. Needs transformers 5.23 and torchvision.
"""

import importlib
import random

import numpy
import torch


def of(model, name):
    return getattr(importlib.import_module(f"transformers.models.{model}.image_processing_{model}"), name)


def smart(model, step, least, most, **more):
    resize = of(model, "smart_resize")

    def made(h, w):
        if min(h, w) < more.get("least_side", 0) or max(h, w) / min(h, w) > 200:
            return "no"
        if model.startswith("glm"):  # A picture is two frames.
            return resize(2, h, w, 2, step, 2 * least, 2 * most)
        return resize(h, w, step, least, most)

    numbers = dict(step=step, least=least, most=most, **more)
    return "smart_resize " + " ".join(f"{k}={v}" for k, v in numbers.items()), made


def lfm2(h, w):
    made = of("lfm2_vl", "Lfm2VlImageProcessor")()
    if made._is_image_too_large(h, w, 256, 16, 2, 2.0):
        return "no"
    return made.smart_resize(h, w, 2, 64, 256, 16)[::-1]


def tiles(count):
    return count + (count > 1)


def canvas(model):
    best = of(model, "get_optimal_tiled_canvas")
    return lambda side: lambda h, w: tiles(int(numpy.prod(best((h, w), (side, side), 1, 12))))


def llama4(h, w):
    from transformers.image_utils import SizeDict

    sizes = torch.tensor(of("llama4", "find_supported_resolutions")(16, SizeDict(height=336, width=336)))
    best = of("llama4", "get_best_fit")((h, w), sizes)
    return tiles(int(best[0]) // 336 * (int(best[1]) // 336))


def idefics3(model, tile):
    output_size = of(model, "get_resize_output_image_size")

    class OfShapes(of(model, "Idefics3ImageProcessor" if model == "idefics3" else "SmolVLMImageProcessor")):
        def resize(self, image, size, **_):
            return torch.empty(*image.shape[:-2], size.height, size.width, device="meta")

    def made(h, w):
        image = torch.empty(1, 3, *output_size(torch.empty(3, h, w, device="meta"), 4 * tile), device="meta")
        image = OfShapes().resize_for_vision_encoder(image, tile)
        return OfShapes().split_images(image, {"longest_edge": tile})[0].shape[1]

    return f"tiles_by_edge tile={tile} edge={4 * tile}", made


def pixtral(h, w):
    return of("pixtral", "get_resize_output_image_size")(numpy.zeros((3, h, w), bool), (1540, 1540), (28, 28))


def gemma4(h, w):
    try:
        return of("gemma4", "get_aspect_ratio_preserving_size")(h, w, 16, 280 * 9, 3)
    except ValueError:
        return "no"


RULES = [
    smart("qwen2_vl", 28, 3136, 12845056),
    smart("qwen2_vl", 32, 65536, 16777216),
    smart("glm4v", 28, 6272, 5880000, least_side=28),
    smart("paddleocr_vl", 28, 147456, 2359296, least_side=28),
    ("smart_resize step=32 least_steps=1 longest=100000 least=65536 most=262144 cut_above=2", lfm2),
    ("longest_edge edge=1540 step=28", pixtral),
    ("filled patch=16 step=48 tokens=280", gemma4),
    ("tiles_by_shape tile=448 most=12", canvas("got_ocr2")(448)),
    ("tiles_by_scale tile=512 most=12", canvas("cohere2_vision")(512)),
    ("tiles_by_fit tile=336 most=16", llama4),
    idefics3("idefics3", 364),
    idefics3("smolvlm", 512),
]


def main():
    chance = random.Random(15)
    sizes = [(448, 448), (1024, 1536), (30, 900), (17, 16), (512, 512), (4000, 3000)]
    sizes += [tuple(int(2 ** chance.uniform(4, 12.3)) for _ in range(2)) for _ in range(194)]
    for rule, made in RULES:
        for h, w in sizes:
            of_picture = made(h, w)
            shown = of_picture if isinstance(of_picture, (str, int)) else f"{of_picture[0]} {of_picture[1]}"
            print(f"{rule} : {h} {w} : {shown}")


if __name__ == "__main__":
    main()
