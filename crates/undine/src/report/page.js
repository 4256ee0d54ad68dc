// Under the pointer, a line at its frame in every plot at once, and what each plot has there.
(() => {
  const space = 'http://www.w3.org/2000/svg';
  const plots = [...document.querySelectorAll('figure')].map(figure => {
    const svg = figure.querySelector('svg');
    const values = JSON.parse(figure.querySelector('script').textContent);
    const numbers = text => text.split(' ').map(Number);
    const [left, top, right, bottom] = numbers(svg.dataset.within);
    const cross = document.createElementNS(space, 'line');
    cross.setAttribute('class', 'cross');
    cross.setAttribute('y1', top);
    cross.setAttribute('y2', bottom);
    cross.style.display = 'none';
    svg.appendChild(cross);
    for (const series of values.series) series.at = new Map(series.points);
    const x = numbers(svg.dataset.x);
    return {figure, svg, values, cross, left, right, x, tip: figure.querySelector('.tip')};
  });
  const written = value => {
    const size = Math.abs(value);
    return size !== 0 && (size < 0.01 || size >= 1e6) ? value.toExponential(2) : String(+value.toPrecision(4));
  };
  const hide = () => plots.forEach(plot => { plot.cross.style.display = 'none'; plot.tip.hidden = true; });
  const cell = (row, text) => { const td = row.insertCell(); td.textContent = text; return td; };
  const show = (plot, frame) => {
    const {values, x, left, right, svg, figure, tip, cross} = plot;
    const shown = values.series.filter(series => series.at.has(frame));
    if (!shown.length) { cross.style.display = 'none'; tip.hidden = true; return; }
    const at = left + (frame - x[0]) / (x[1] - x[0]) * (right - left);
    cross.setAttribute('x1', at);
    cross.setAttribute('x2', at);
    cross.style.display = '';
    tip.replaceChildren();
    const head = document.createElement('b');
    head.textContent = `frame ${frame}`;
    const table = document.createElement('table');
    let sum = 0;
    for (const series of values.total ? [...shown].reverse() : shown) {
      const row = table.insertRow();
      const name = cell(row, series.name);
      const mark = document.createElementNS(space, 'svg');
      mark.setAttribute('class', 'plot');
      mark.setAttribute('viewBox', '0 0 10 10');
      const dot = document.createElementNS(space, 'circle');
      dot.setAttribute('class', series.class);
      for (const key of ['cx', 'cy', 'r']) dot.setAttribute(key, 5);
      mark.appendChild(dot);
      name.prepend(mark);
      sum += series.at.get(frame);
      cell(row, `${written(series.at.get(frame))} ${values.unit}`);
    }
    if (values.total) {
      const row = table.insertRow();
      row.className = 'total';
      cell(row, 'together');
      cell(row, `${written(sum)} ${values.unit}`);
    }
    tip.append(head, table);
    tip.hidden = false;
    // On whichever side of the line there is more room.
    const [box, outer] = [svg.getBoundingClientRect(), figure.getBoundingClientRect()];
    const place = box.left - outer.left + at / svg.viewBox.baseVal.width * box.width;
    const behind = at > (left + right) / 2;
    tip.style.left = behind ? '' : `${place + 10}px`;
    tip.style.right = behind ? `${outer.width - place + 10}px` : '';
    tip.style.top = '52px';
  };
  for (const plot of plots) {
    plot.svg.addEventListener('pointermove', event => {
      const box = plot.svg.getBoundingClientRect();
      const along = (event.clientX - box.left) / box.width * plot.svg.viewBox.baseVal.width;
      const share = (along - plot.left) / (plot.right - plot.left);
      if (share < -0.02 || share > 1.02) { hide(); return; }
      const frame = Math.round(plot.x[0] + share * (plot.x[1] - plot.x[0]));
      plots.forEach(other => show(other, frame));
    });
    plot.svg.addEventListener('pointerleave', hide);
  }
})();
