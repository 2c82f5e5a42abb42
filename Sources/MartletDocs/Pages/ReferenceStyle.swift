/// The style sheet of the page, for light and dark mode, wide and narrow screens, and printing.
enum ReferenceStyle {
    static let text = """
        :root{--paper:#fff;--ink:#1c2233;--soft:#59627c;--edge:#d5dae6;--link:#2448b8;--wash:#f4f6fb;--mark:#fff3cf;
        --object:#dce5fb;--embedded:#d5f0e0;--enum:#fbeac6;--projection:#e8defa;--warn:#8a3b00;--warnwash:#fff1e3}
        @media (prefers-color-scheme:dark){:root{--paper:#15181f;--ink:#e4e8f2;--soft:#a3adc6;--edge:#333a4a;--link:#9db4ff;
        --wash:#1e222c;--mark:#3d3413;--object:#2b3a63;--embedded:#1f4a36;--enum:#54411a;--projection:#443066;
        --warn:#ffb27a;--warnwash:#3a2413}}
        *{box-sizing:border-box}
        html{scroll-padding-top:4.5rem;font:16px/1.5 -apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;
        background:var(--paper);color:var(--ink)}
        body{margin:0}
        a{color:var(--link)}
        a:not(:hover,:focus-visible){text-decoration-color:color-mix(in srgb,var(--link) 35%,transparent)}
        :focus-visible{outline:2px solid var(--link);outline-offset:2px}
        [tabindex="-1"]:focus{outline:0}
        ::placeholder{color:var(--soft);opacity:1}
        code{font:.9em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere}
        .unseen,.skip:not(:focus){position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%)}
        .skip{position:fixed;z-index:3;top:.5rem;left:.5rem;padding:.5rem 1rem;background:var(--paper)}
        .top{position:sticky;z-index:2;top:0;display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:center;
        padding:.6rem 1.5rem;background:var(--paper);border-bottom:1px solid var(--edge)}
        .brand{font-weight:700;color:inherit;text-decoration:none;overflow-wrap:anywhere}
        [role=search]{position:relative;flex:1;max-width:40rem;margin-left:auto}
        [role=search][hidden]{display:none}
        #-search{width:100%;padding:.5rem .8rem;font:inherit;color:inherit;background:var(--wash);
        border:1px solid var(--soft);border-radius:.5rem}
        #-results{position:absolute;left:0;right:0;max-height:70vh;margin:.3rem 0 0;padding:.3rem;overflow:auto;
        list-style:none;background:var(--paper);border:1px solid var(--soft);border-radius:.5rem;
        box-shadow:0 8px 24px rgb(0 0 0/.25)}
        #-results[hidden]{display:none}
        #-results li{display:flex;flex-wrap:wrap;gap:0 .6rem;padding:.35rem .6rem;border-radius:.3rem}
        #-results [role=option]{cursor:pointer}
        #-results [role=option]:hover,#-results [aria-selected=true]{background:var(--object)}
        #-results .name{font-weight:600;overflow-wrap:anywhere}
        #-results .kind,#-results .none,#-results .text{color:var(--soft)}
        #-results [aria-selected=true] span,#-results [role=option]:hover span{color:var(--ink)}
        #-results .text{flex-basis:100%;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;font-size:.875rem}
        .columns{display:grid;grid-template-columns:15rem minmax(0,1fr);max-width:100rem;margin:0 auto}
        nav{position:sticky;top:3.7rem;align-self:start;max-height:calc(100vh - 3.7rem);padding:1rem 0 2rem 1.5rem;
        overflow:auto}
        nav summary{display:none}
        nav h2{margin:1rem 0 .2rem;font-size:.875rem}
        nav h2 a{color:var(--soft);text-decoration:none}
        nav ul{margin:0;padding:0;list-style:none}
        nav li a{display:block;padding:.1rem .4rem;color:inherit;text-decoration:none;border-radius:.3rem;
        overflow-wrap:anywhere}
        nav li a:hover{background:var(--wash);text-decoration:underline}
        main{padding:1rem 2rem 6rem}
        h1{margin:.5rem 0 0;overflow-wrap:anywhere}
        .lead{margin-top:.2rem;color:var(--soft)}
        main>section>h2{margin:2.5rem 0 .5rem;padding-bottom:.3rem;border-bottom:2px solid var(--edge)}
        .diagram label{font-size:.875rem}
        .picture{max-height:85vh;margin-top:.5rem;overflow:auto;border:1px solid var(--edge);border-radius:.5rem}
        .picture svg{display:block}
        .diagram:has(.fit:checked) .picture svg{width:100%;max-width:max-content;height:auto}
        .type{padding:.2rem 0 1.2rem;border-bottom:1px solid var(--edge);content-visibility:auto;
        contain-intrinsic-size:auto 30rem}
        .type:last-child{border-bottom:0}
        h3{margin:1.2rem 0 .2rem;font-size:1.35rem;overflow-wrap:anywhere}
        h3 a,.own{color:inherit;text-decoration:none}
        h3 a:hover,.own:hover{text-decoration:underline}
        h4{margin:1.1rem 0 .3rem;font-size:.875rem;color:var(--soft)}
        .old,.old a{text-decoration:line-through}
        .marks{display:flex;flex-wrap:wrap;gap:.25rem .4rem;align-items:center;margin:0}
        .badge{padding:0 .5rem;font-size:.8125rem;background:var(--wash);border:1px solid var(--edge);border-radius:1rem;
        overflow-wrap:anywhere}
        .badge.object{background:var(--object)}
        .badge.embedded{background:var(--embedded)}
        .badge.enum{background:var(--enum)}
        .badge.projection{background:var(--projection)}
        .path{font-size:.8125rem;color:var(--soft);overflow-wrap:anywhere}
        .doc p{max-width:46rem;margin:.4rem 0;white-space:pre-line;overflow-wrap:anywhere}
        .warning{max-width:46rem;margin:.4rem 0;padding:.3rem .7rem;color:var(--warn);background:var(--warnwash);
        border-radius:.3rem;overflow-wrap:anywhere}
        .members{margin:0;padding:0;list-style:none}
        .members li{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:0 1.2rem;padding:.45rem .5rem;
        border-top:1px solid var(--edge)}
        .what{display:flex;flex-wrap:wrap;gap:0 .6rem;align-content:start}
        .what .own{font-weight:600}
        .default{color:var(--soft)}
        .about .doc p:first-child{margin-top:0}
        .about .marks+.doc p:first-child{margin-top:.3rem}
        .type:target h3,.members li:target{background:var(--mark)}
        .uses{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem 1.2rem;margin:0}
        .uses dt{color:var(--soft)}
        .uses dd{margin:0}
        @media (max-width:60rem){
        .columns{display:block}
        nav{position:static;max-height:none;padding:.5rem 1.5rem;overflow:visible}
        nav summary{display:list-item;padding:.4rem 0;cursor:pointer}
        nav ul{columns:12rem}
        main{padding:.5rem 1.5rem 4rem}
        }
        @media (max-width:40rem){
        .top{padding:.6rem 1rem}
        [role=search]{flex-basis:100%}
        html{scroll-padding-top:7rem}
        nav,main{padding-left:1rem;padding-right:1rem}
        .members li{grid-template-columns:minmax(0,1fr);padding:.6rem 0}
        .uses{display:block}
        .uses dd{margin-bottom:.5rem}
        }
        @media print{
        .top,nav,.skip,.diagram label{display:none}
        .columns{display:block}
        .picture{max-height:none;overflow:visible;border:0}
        .picture svg{width:100%;min-width:0;height:auto}
        .type{content-visibility:visible}
        .members li,h3,h4{break-inside:avoid;break-after:auto}
        h2,h3,h4{break-after:avoid}
        main{padding:0}
        }

        """
}
