"""The style of an HTML report: light and dark, by the reader's own setting."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root{color-scheme:light dark;--fg:#1b1b1f;--dim:#5c5c66;--bg:#fff;--box:#f4f4f7;--line:#d6d6de;
--bar:#3d6fb4;--bad:#b3261e;--warn:#8a5a00;--ok:#1d6b34;--ask:#0b57d0}
@media(prefers-color-scheme:dark){:root{--fg:#e7e7ee;--dim:#a3a3b0;--bg:#16161a;--box:#212127;
--line:#3a3a44;--bar:#7aa7e8;--bad:#ff8a80;--warn:#f2b84b;--ok:#7ed495;--ask:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:72rem;color:var(--fg);background:var(--bg);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0 0 .75rem}h1 code{font-size:inherit}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
h3{font-size:1rem;margin:1rem 0 .25rem}
code,pre,.v{font:13px/1.45 ui-monospace,monospace;unicode-bidi:isolate;overflow-wrap:anywhere}
pre{margin:.25rem 0;padding:.5rem;background:var(--bg);border:1px solid var(--line);
border-radius:4px;white-space:pre-wrap;max-height:24rem;overflow:auto}
a{color:inherit}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;margin:0}
dt{color:var(--dim)}dd{margin:0;min-width:0}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line);
vertical-align:top}
th{color:var(--dim);font-weight:500}.n{text-align:right;white-space:nowrap}
svg{display:block;width:8rem;height:.7rem;margin-top:.4rem;background:var(--box)}rect{fill:var(--bar)}
.s{font-weight:600;white-space:nowrap}.dim{color:var(--dim)}
.failed,.blocked{color:var(--bad)}.undetermined,.in_doubt,.incomplete{color:var(--warn)}
.completed{color:var(--ok)}.paused{color:var(--ask)}.cancelled,.skipped{color:var(--dim)}
ol,ul{padding-left:1.2rem;margin:.25rem 0}.steps{list-style:none;padding:0}
.steps>li{content-visibility:auto;contain-intrinsic-size:auto 2rem}
details{border-bottom:1px solid var(--line)}
summary{padding:.3rem .25rem;cursor:pointer;display:grid;gap:.75rem;align-items:baseline;
grid-template-columns:.6rem minmax(0,1fr) 4.5rem 7rem 7.5rem 5rem}
summary::before{content:"+";color:var(--dim)}details[open]>summary::before{content:"\u2212"}
summary:focus-visible,a:focus-visible,input:focus-visible{outline:2px solid var(--ask);
outline-offset:1px}
details[open]>summary{background:var(--box)}
details>dl{padding:.5rem .75rem;background:var(--box)}
li:target>details>summary{outline:2px solid var(--ask)}
.d1{padding-left:1.25rem}.d2{padding-left:2.5rem}.d3{padding-left:3.75rem}.d4{padding-left:5rem}
.d5{padding-left:6.25rem}.d6{padding-left:7.5rem}
#only:checked~.steps>li:not(.look){display:none}
@media(max-width:44rem){svg{display:none}summary{grid-template-columns:.6rem minmax(0,1fr) 7rem}
summary .dim,summary .n{display:none}}
@media print{details:not([open])>dl{display:none}pre{max-height:none}}
"""
