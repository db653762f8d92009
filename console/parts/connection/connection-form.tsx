import type { ReactNode } from 'react';
import '../../forms/forms.css';
import { MASK } from '../../../graph/mask-text.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { SelectField, TextField } from '../../ui/fields.js';
import { Alert } from '../../ui/notices.js';
import type { Preset } from './connection-types.js';
import {
  KINDS,
  newFields,
  placeholderLabel,
  type ConnectionFields,
  type FieldProblems,
  type FieldSpec,
} from './connection-fields.js';
import './connections.css';

interface ConnectionFormProps {
  preset: Preset | undefined;
  /** True for a stored connection, whose secrets remain unless the person enters new ones. */
  isStored: boolean;
  fields: ConnectionFields;
  placeholders: Readonly<Record<string, string>>;
  problems: FieldProblems;
  onChange: (fields: ConnectionFields) => void;
  onPlaceholder: (name: string, value: string) => void;
}

const MOST_ROWS = 5;
/** Maps the service's field names to the form's where they differ. */
const ALIASES: Readonly<Record<string, string>> = {
  'settings.name': 'rows.0.name',
  'settings.names': 'rows.0.name',
  'secrets.value': 'rows.0.value',
  'secrets.values': 'rows.0.value',
};

/** Fields of a connection. Fields that only the person can know come first. */
export function ConnectionForm(props: ConnectionFormProps) {
  const { preset, isStored, fields, placeholders, onChange, onPlaceholder } = props;
  const spec = KINDS[fields.kind];
  const hasRows = fields.rows.length > 0;
  const problems = placed(props.problems, fields);
  const known = preset === undefined ? undefined : newFields(preset);
  const isOwn = ({ key, isOptional, isEmptySent }: FieldSpec): boolean =>
    known === undefined || ((known.settings[key] ?? '') === '' && (isOptional !== true || isEmptySent === true));
  const knownSettings = spec.settings.filter((each) => !isOwn(each));
  const setting = (each: FieldSpec) => (
    <SettingField
      key={each.key}
      spec={each}
      value={fields.settings[each.key] ?? ''}
      error={problems[`settings.${each.key}`]}
      onChange={(value) => onChange({ ...fields, settings: { ...fields.settings, [each.key]: value } })}
    />
  );
  const origins = (
    <TextField
      label="Origins"
      hint="The credential goes to these addresses and to no other, one a line: `https://api.example.com`."
      rows={2}
      spellCheck={false}
      value={fields.origins}
      error={problems['origins']}
      isRequired={fields.kind !== 'mcp_oauth'}
      onChange={(text) => onChange({ ...fields, origins: text })}
    />
  );
  return (
    <>
      <TextField
        label="Name"
        autoComplete="off"
        maxLength={100}
        value={fields.name}
        error={problems['name']}
        onChange={(name) => onChange({ ...fields, name })}
        isRequired
      />
      {Object.entries(placeholders).map(([name, value]) => (
        <TextField
          key={name}
          label={placeholderLabel(name)}
          hint={`A part of your address there: \`${addressWith(preset, name)}\`.`}
          autoComplete="off"
          spellCheck={false}
          value={value}
          error={problems[`placeholders.${name}`]}
          onChange={(next) => onPlaceholder(name, next)}
          isRequired
        />
      ))}
      {spec.settings.filter(isOwn).map(setting)}
      {hasRows && <Rows {...{ fields, problems, isStored, onChange }} mayAdd={known === undefined && !isStored} />}
      {spec.secrets.map((each) => (
        <SecretField
          key={each.key}
          label={each.label}
          hint={each.hint}
          isStored={isStored}
          isRequired={each.isOptional !== true && !isStored}
          value={fields.secrets[each.key] ?? ''}
          error={problems[`secrets.${each.key}`]}
          onChange={(value) => onChange({ ...fields, secrets: { ...fields.secrets, [each.key]: value } })}
        />
      ))}
      {(fields.kind === 'oauth2' || fields.kind === 'mcp_oauth') && <RedirectAddress kind={fields.kind} />}
      {known === undefined ? (
        origins
      ) : (
        <KnownSettings
          isOpen={['origins', ...knownSettings.map(({ key }) => `settings.${key}`)].some((field) => field in problems)}
        >
          {origins}
          {knownSettings.map(setting)}
        </KnownSettings>
      )}
      {(problems['settings'] ?? problems['kind']) !== undefined && (
        <Alert>{problems['settings'] ?? problems['kind']}</Alert>
      )}
    </>
  );
}

/**
 * Moves a problem with the key `secrets`, which names no single secret, to the first field that can show it. For kinds
 * with rows, also moves the problems with the key `settings` and with the keys in `ALIASES`. For other kinds, the
 * problem with the key `settings` stays and is shown below the form. Keys such as `settings.token_url` are unchanged.
 */
function placed(problems: FieldProblems, { kind, rows }: ConnectionFields): FieldProblems {
  const [secret] = KINDS[kind].secrets;
  const first = secret === undefined ? 'rows.0.value' : `secrets.${secret.key}`;
  return Object.fromEntries(
    Object.entries(problems).map(([field, sentence]) => {
      const alias = rows.length > 0 ? ALIASES[field] : undefined;
      if (field === 'settings' && rows.length > 0) return ['rows.0.name', sentence];
      return [field === 'secrets' ? first : (alias ?? field), sentence];
    }),
  );
}

function addressWith(preset: Preset | undefined, name: string): string {
  const texts = preset === undefined ? [] : [...preset.origins, ...Object.values(preset.settings)];
  const holding = texts.filter((text) => typeof text === 'string').find((text) => text.includes(`{${name}}`));
  return holding ?? `{${name}}`;
}

/**
 * Folds the fields that few people change: the origins, settings that the preset fills in, and optional settings,
 * except one whose empty text is a valid value (`isEmptySent`) and which the preset does not fill in.
 */
function KnownSettings({ isOpen, children }: { isOpen: boolean; children: ReactNode }) {
  return (
    <details className="form-more" open={isOpen || undefined}>
      <summary>Addresses and what else is known of the service</summary>
      <div className="form-more-fields">{children}</div>
    </details>
  );
}

interface SettingFieldProps {
  spec: FieldSpec;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

const CLIENT_AUTH = [
  { value: '', label: 'As the provider says' },
  { value: 'post', label: 'In the body' },
  { value: 'basic', label: 'By basic authentication' },
];

function SettingField({ spec, value, error, onChange }: SettingFieldProps) {
  const { label, hint, shape, isOptional = false } = spec;
  const common = { label, hint, error, value, onChange, isRequired: !isOptional };
  if (shape === 'clientAuth') return <SelectField {...common} options={CLIENT_AUTH} />;
  if (shape === 'words') {
    return <TextField {...common} hint="Separated by spaces or lines; may be empty." rows={2} spellCheck={false} />;
  }
  if (shape === 'pairs') return <TextField {...common} rows={2} spellCheck={false} />;
  return <TextField {...common} type={shape === 'url' ? 'url' : 'text'} autoComplete="off" spellCheck={false} />;
}

interface SecretFieldProps {
  label: string;
  hint?: string | undefined;
  isStored: boolean;
  isRequired: boolean;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** A stored secret is shown as a mask, and remains until the person enters a new one. */
function SecretField({ label, hint, isStored, isRequired, value, error, onChange }: SecretFieldProps) {
  return (
    <TextField
      label={label}
      hint={isStored ? 'It is kept until you write another one.' : (hint ?? 'Never shown again.')}
      type="password"
      autoComplete="new-password"
      {...(isStored && { placeholder: MASK })}
      value={value}
      error={error}
      onChange={onChange}
      isRequired={isRequired}
    />
  );
}

interface RowsProps extends Pick<ConnectionFormProps, 'fields' | 'problems' | 'isStored' | 'onChange'> {
  mayAdd: boolean;
}

/**
 * Names with one secret value each. The service matches stored values by index, so rows of a stored connection cannot
 * be added or removed.
 */
function Rows({ fields, problems, isStored, onChange, mayAdd }: RowsProps) {
  const { rows, kind } = fields;
  const nameLabel = KINDS[kind].rows ?? 'Name';
  const numbered = (label: string, at: number): string => (rows.length > 1 ? `${label} ${at + 1}` : label);
  const set = (at: number, row: Partial<ConnectionFields['rows'][number]>): void =>
    onChange({ ...fields, rows: rows.map((each, index) => (index === at ? { ...each, ...row } : each)) });
  return (
    <>
      {rows.map((row, at) => (
        <div className="connection-row" key={at}>
          <TextField
            label={numbered(nameLabel, at)}
            autoComplete="off"
            spellCheck={false}
            value={row.name}
            error={problems[`rows.${at}.name`]}
            onChange={(name) => set(at, { name })}
            isRequired
          />
          <SecretField
            label={numbered('Value', at)}
            isStored={isStored}
            isRequired={!isStored}
            value={row.value}
            error={problems[`rows.${at}.value`]}
            onChange={(value) => set(at, { value })}
          />
        </div>
      ))}
      {mayAdd && (
        <p className="connection-row-buttons">
          <Button
            disabled={rows.length >= MOST_ROWS}
            onClick={() => onChange({ ...fields, rows: [...rows, { name: '', value: '' }] })}
          >
            Add another
          </Button>
          {rows.length > 1 && (
            <Button variant="quiet" onClick={() => onChange({ ...fields, rows: rows.slice(0, -1) })}>
              Remove the last
            </Button>
          )}
        </p>
      )}
    </>
  );
}

/** The redirect address to register at the provider. */
function RedirectAddress({ kind }: { kind: 'oauth2' | 'mcp_oauth' }) {
  const address = `${location.origin}/api/v1/connections/callback/`;
  return (
    <div className="connection-redirect">
      <p>
        {kind === 'oauth2'
          ? 'Register this redirect address at the provider:'
          : 'A client of your own needs this redirect address at the provider:'}
      </p>
      <code className="connection-address">{address}</code>
      <CopyButton text={address} label="Copy redirect address" />
    </div>
  );
}
