export function Legend({ isResumed }: { isResumed: boolean }) {
  return (
    <ul className="timeline-legend" aria-label="Legend">
      <li className="timeline-legend-attempt">attempt</li>
      <li className="timeline-legend-queue">in queue</li>
      <li className="timeline-legend-wait">waiting</li>
      {isResumed && <li className="timeline-legend-reused">reused</li>}
    </ul>
  );
}
