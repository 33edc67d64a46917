// The latency of the last calls, with those that failed marked.
const place = document.getElementById("plot");

function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name})`;
  place.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function draw() {
  const [at, ms, failed] = JSON.parse(place.dataset.points);
  const errors = ms.map((value, index) => (failed[index] ? value : null));
  const axis = { stroke: colour("soft"), grid: { stroke: colour("edge"), width: 1 }, ticks: { show: false } };
  const options = {
    width: place.clientWidth,
    height: 220,
    series: [
      { label: place.dataset.at },
      { label: place.dataset.ms, stroke: colour("accent"), width: 1.5, points: { size: 4 } },
      { label: place.dataset.errors, stroke: colour("bad"), paths: () => null, points: { show: true, size: 8, fill: colour("bad") } },
    ],
    axes: [axis, { ...axis, size: 60 }],
    scales: { y: { range: (_, low, high) => [0, Math.max(1, high * 1.1)] } },
  };
  place.replaceChildren();
  new uPlot(options, [at, ms, errors], place);
}

if (place) {
  draw();
  new ResizeObserver(([{ contentRect }]) => {
    const canvas = place.querySelector(".uplot");
    if (canvas && Math.abs(canvas.clientWidth - contentRect.width) > 4) draw();
  }).observe(place);
}
