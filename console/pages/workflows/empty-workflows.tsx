import { Button, ButtonLink } from '../../ui/button.js';

interface EmptyWorkflowsProps {
  isFiltered: boolean;
  onClear: () => void;
  onNew: () => void;
}

export function EmptyWorkflows({ isFiltered, onClear, onNew }: EmptyWorkflowsProps) {
  if (isFiltered) {
    return (
      <div className="workflows-empty">
        <p>No workflow matches.</p>
        <Button onClick={onClear}>Show all workflows</Button>
      </div>
    );
  }
  return (
    <div className="workflows-empty">
      <p>
        A workflow is a graph of what should happen: a trigger, requests, questions to a model, conditions. Draw your
        first one, or take one that others have published.
      </p>
      <div className="workflows-empty-actions">
        {/* Not the page's own button a second time, but what it leads to. */}
        <Button variant="primary" onClick={onNew}>
          Draw the first workflow
        </Button>
        <ButtonLink to="/marketplace">Look at the marketplace</ButtonLink>
      </div>
    </div>
  );
}
