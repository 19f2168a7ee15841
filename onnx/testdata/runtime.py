"""Writes runtime.tar.gz: models of one node with what ONNX Runtime computes of them, in the form of
nodes.tar.gz. They have attributes and versions that ONNX's node tests lack."""
import io
import tarfile

import numpy as np
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

rng=np.random.default_rng(1)
tar = tarfile.open("runtime.tar.gz", "w:gz")


def add(name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def case(name, op, ins, nout, opset, outtypes=None, **attrs):
    names = [f"i{k}" if a is not None else "" for k, a in enumerate(ins)]
    node = h.make_node(op, names, [f"o{k}" for k in range(nout)], **attrs)
    given = {n: a for n, a in zip(names, ins) if n}
    inputs = [h.make_tensor_value_info(n, h.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()]
    types = outtypes or [T.FLOAT] * nout
    outputs = [h.make_tensor_value_info(f"o{k}", types[k], None) for k in range(nout)]
    m = h.make_model(h.make_graph([node], "g", inputs, outputs), opset_imports=[h.make_opsetid("", opset)], ir_version=8)
    session = ort.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
    result = session.run(None, given)
    add(f"{name}/model.onnx", m.SerializeToString())
    add(f"{name}/tolerance", b"1e-4 1e-5")
    for side, values in (("in", given.values()), ("out", result)):
        for k, a in enumerate(values):
            add(f"{name}/0.{side}.{k:02}.t", nh.from_array(a).SerializeToString())


f=lambda *s: rng.standard_normal(s).astype(np.float32)
S,B,I,H=5,3,4,6
L=np.array([5,2,3],np.int32)
for dirs,dn in ((1,"forward"),(1,"reverse"),(2,"bidirectional")):
    case("lstm_"+dn,"LSTM",[f(S,B,I),f(dirs,4*H,I),f(dirs,4*H,H),f(dirs,8*H),L,f(dirs,B,H),f(dirs,B,H),f(dirs,3*H)],3,14,hidden_size=H,direction=dn)
    case("lstm_clip_"+dn,"LSTM",[f(S,B,I),f(dirs,4*H,I),f(dirs,4*H,H),f(dirs,8*H),None,f(dirs,B,H)],3,14,hidden_size=H,direction=dn,clip=0.5)
    case("gru_"+dn,"GRU",[f(S,B,I),f(dirs,3*H,I),f(dirs,3*H,H),f(dirs,6*H),L,f(dirs,B,H)],2,14,hidden_size=H,direction=dn)
    case("gru_linear_"+dn,"GRU",[f(S,B,I),f(dirs,3*H,I),f(dirs,3*H,H),f(dirs,6*H),L],2,14,hidden_size=H,direction=dn,linear_before_reset=1,clip=0.7)
    case("rnn_"+dn,"RNN",[f(S,B,I),f(dirs,H,I),f(dirs,H,H),f(dirs,2*H),L],2,14,hidden_size=H,direction=dn)
case("lstm_acts","LSTM",[f(S,B,I),f(1,4*H,I),f(1,4*H,H)],3,14,hidden_size=H,activations=["HardSigmoid","ScaledTanh","Softsign"],activation_alpha=[0.3,0.8],activation_beta=[0.4,0.6])
case("lstm_couple","LSTM",[f(S,B,I),f(1,4*H,I),f(1,4*H,H)],3,14,hidden_size=H,input_forget=1)
case("rnn_affine","RNN",[f(S,B,I),f(2,H,I),f(2,H,H)],2,14,hidden_size=H,direction="bidirectional",activations=["LeakyRelu","Elu"],activation_alpha=[0.3,0.8])
case("maxroi","MaxRoiPool",[f(2,3,9,11),np.array([[0,0,0,5,6],[1,2.4,1,9.6,8],[1,7,7,7,7],[0,-3,-2,30,20]],np.float32)],1,16,pooled_shape=[3,2],spatial_scale=0.9)
case("roi_adapt","RoiAlign",[f(2,3,9,11),np.array([[0,0,5,6],[2.4,1,9.6,8],[-3,-2,30,20]],np.float32),np.array([0,1,1],np.int64)],1,16,output_height=3,output_width=2,spatial_scale=0.9)
case("bn7","BatchNormalization",[f(2,3,4,5),f(3),f(3),f(3),np.abs(f(3))],1,7)
case("maxpool_idx3","MaxPool",[f(2,3,6,7,5)],2,12,outtypes=[T.FLOAT,T.INT64],kernel_shape=[2,3,2],strides=[2,1,2],pads=[1,1,0,0,1,1])
case("maxpool_idx_col","MaxPool",[f(2,3,6,7)],2,12,outtypes=[T.FLOAT,T.INT64],kernel_shape=[2,3],strides=[2,2],storage_order=1,ceil_mode=1,pads=[0,1,1,1])
case("maxpool_empty","MaxPool",[f(0,3,6,7)],2,12,outtypes=[T.FLOAT,T.INT64],kernel_shape=[2,3])
case("maxpool_dil","MaxPool",[f(2,3,9,9)],2,12,outtypes=[T.FLOAT,T.INT64],kernel_shape=[2,3],dilations=[2,3],ceil_mode=1,strides=[2,1])
case("avgpool_ceil","AveragePool",[f(2,3,9,8)],1,19,kernel_shape=[3,4],strides=[4,3],ceil_mode=1,pads=[1,2,0,1],count_include_pad=1)
case("avgpool_ceil_ex","AveragePool",[f(2,3,9,8)],1,19,kernel_shape=[3,4],strides=[4,3],ceil_mode=1,pads=[1,2,0,1])
case("avgpool_dil","AveragePool",[f(2,3,9,8)],1,19,kernel_shape=[3,3],dilations=[2,3],pads=[1,2,0,1])
case("convt","ConvTranspose",[f(2,4,5,6),f(4,3,3,2),f(6)],1,11,strides=[2,3],dilations=[2,1],pads=[1,0,2,1],output_padding=[1,2],group=2)
case("convt1","ConvTranspose",[f(2,4,5),f(4,3,3),f(3)],1,11,strides=[2],auto_pad="SAME_LOWER")
case("convt3","ConvTranspose",[f(1,2,3,4,5),f(2,3,2,3,2),f(3)],1,11,strides=[2,1,3],pads=[1,0,0,0,1,1],output_padding=[1,0,2])
case("conv3","Conv",[f(1,4,5,6,7),f(6,2,3,2,2),f(6)],1,11,strides=[2,1,2],pads=[1,0,1,0,1,1],group=2,dilations=[1,2,1])
case("conv_same","Conv",[f(1,4,5,6),f(6,4,3,2),f(6)],1,11,strides=[2,2],auto_pad="SAME_LOWER")
case("resize10","Resize",[f(1,2,5,6),np.array([1,1,1.7,0.6],np.float32)],1,10,mode="linear")
case("resize10n","Resize",[f(1,2,5,6),np.array([1,1,1.7,0.6],np.float32)],1,10,mode="nearest")
case("upsample9","Upsample",[f(1,2,5,6),np.array([1,1,1.7,2.6],np.float32)],1,9,mode="linear")
case("lrn","LRN",[f(2,7,3,4)],1,13,size=5,alpha=0.1,beta=0.6,bias=1.5)
case("stft","STFT",[f(2,40,1),np.array(7,np.int64),f(16)],1,17)
case("dft","DFT",[f(2,10,2),np.array(14,np.int64)],1,17,axis=1)
case("hardmax11","Hardmax",[f(2,3,4)],1,11,axis=1)
case("mvn","MeanVarianceNormalization",[f(2,3,4,5)],1,13,axes=[0,2])
case("gs3","GridSample",[f(1,2,4,5,6),f(1,3,3,3,3)],1,20,mode="linear",padding_mode="reflection",align_corners=1)
case("lppool","LpPool",[f(1,2,7,6)],1,18,kernel_shape=[3,2],strides=[2,2],p=3,ceil_mode=1)
case("nms","NonMaxSuppression",[rng.random((2,30,4)).astype(np.float32),rng.random((2,3,30)).astype(np.float32),np.array([7],np.int64),np.array([0.2],np.float32),np.array([0.3],np.float32)],1,11,outtypes=[T.INT64])
big=np.iinfo(np.int64).max
i64=lambda *v: np.array(v,np.int64)
for name,start,end in (("slice_back_int64",i64(-1,2),i64(big,-9)),("slice_back_int32",i64(1,5),i64(2**31-1,big)),("slice_back_near",i64(-1,3),i64(big-1,2**31-2))):
    case(name,"Slice",[f(4,5),start,end,i64(0,1),i64(-1,-2)],1,13)
case("slice_back_empty","Slice",[f(0,5),i64(-1),i64(big),i64(0),i64(-1)],1,13)
case("layernorm_float64","LayerNormalization",[f(3,4).astype(np.float64),f(4).astype(np.float64)],2,17,outtypes=[T.DOUBLE,T.FLOAT])
case("dynamicquantize_zeros","DynamicQuantizeLinear",[np.zeros((2,3),np.float32)],3,11,outtypes=[T.UINT8,T.FLOAT,T.UINT8])
tar.close()
