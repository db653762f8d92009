export function Legend() {
  return (
    <ul className="timeline-legend" aria-label="Legend">
      <li className="timeline-legend-attempt">attempt</li>
      <li className="timeline-legend-queue">in queue</li>
      <li className="timeline-legend-wait">waiting</li>
    </ul>
  );
}
