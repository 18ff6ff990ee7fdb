// A line to read values at: by the pointer, or by the arrow keys.
for (const svg of document.querySelectorAll("svg[data-x]")) {
  const xs = JSON.parse(svg.dataset.x), series = JSON.parse(svg.dataset.s), out = svg.closest("figure").querySelector("output");
  const [left, right, low, high] = JSON.parse(svg.dataset.box), line = svg.querySelector(".cursor");
  let at = -1;
  const show = (index) => {
    if (!xs.length) return;
    at = Math.max(0, Math.min(xs.length - 1, index));
    const x = left + (xs[at] - low) / Math.max(high - low, 1e-12) * (right - left);
    line.setAttribute("x1", x); line.setAttribute("x2", x); line.style.visibility = "visible";
    const time = new Date((Number(svg.dataset.t) + xs[at]) * 1000).toISOString().slice(11, 23);
    out.textContent = time + "  " + series.map((one) => one[0] + " " + (one[1][at] ?? "–")).join("   ");
  };
  const near = (x) => { let best = 0; xs.forEach((value, index) => { if (Math.abs(value - x) < Math.abs(xs[best] - x)) best = index; }); return best; };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * 720;
    show(near(low + (x - left) / (right - left) * (high - low)));
  });
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -1e9, End: 1e9 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(at < 0 && step > 0 && step < 1e9 ? 0 : at + step);
  });
}
