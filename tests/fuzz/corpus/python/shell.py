!pip install \
 q
os.environ["A"] = "1"; del a
