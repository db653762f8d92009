import type { ReactNode } from 'react';
import { CopyButton } from '../../../ui/copy-button.js';
import { toClientSettings, type Tool } from './use-tool.js';

/** What a person needs who sets up an MCP client, and what a model is told of the tool. */
export function ToolFacts({ tool }: { tool: Tool }) {
  const settings = toClientSettings(tool);
  return (
    <div className="start">
      <div className="start-address">
        <code className="start-url">{tool.url}</code>
        <CopyButton text={tool.url} label="Copy address" />
      </div>
      <dl className="start-facts">
        <dt>Name</dt>
        <dd>
          <code>{tool.name}</code>
        </dd>
        <dt>Description</dt>
        <dd>{tool.description}</dd>
      </dl>
      <ToolText title="Settings of a client" text={settings}>
        <CopyButton text={settings} label="Copy settings" />
      </ToolText>
      <ToolText title="What it takes" text={JSON.stringify(tool.input_schema, null, 2)} />
    </div>
  );
}

function ToolText({ title, text, children }: { title: string; text: string; children?: ReactNode }) {
  return (
    <div className="tool-text" role="group" aria-label={title}>
      <div className="starts-head">
        <h3>{title}</h3>
        {children}
      </div>
      {/* It scrolls by keyboard, too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className="tool-json" dir="ltr" tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}
