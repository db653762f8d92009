import { use, useState } from 'react';
import { isObject, type JsonObject } from '../../graph/json.js';
import { asObject, asText } from '../ui/json.js';
import { RecordTable, VariableText } from '../forms/fields.js';
import { FormContext } from '../forms/form.js';
import { onlyFields, withoutFields } from '../forms/layers.js';
import { Layers, Properties, SchemaField } from '../forms/schema-field.js';
import { propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { Button } from '../ui/button.js';
import { SelectField } from '../ui/fields.js';
import { BODY_KEYS, bodyTypeOf, toBodyType, type BodyType } from './body.js';
import { CurlDialog } from './curl/curl-dialog.js';
import './kinds.css';
import { queryRows, withQuery, type QueryRow } from './query.js';

interface HttpFormProps {
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

const OF_ADDRESS = ['url', 'method', 'headers', 'body'];
const OF_ACTION = ['action', 'values'];

/**
 * Form of an HTTP request: method and address in one row, tables of names and values, and the body by type. If the node
 * has an action, the fields of the action take their place.
 */
export function HttpForm({ schema, data, onChange }: HttpFormProps) {
  const { url = {}, settings = {} } = propertiesOf(schema);
  const { description: _known, ...plainUrl } = url;
  const own = { path: [], value: data, onChange };
  const { isReadOnly } = use(FormContext);
  const [isImporting, setIsImporting] = useState(false);
  const action = (
    <SchemaField
      schema={{ format: 'action' }}
      path={['action']}
      label="Action"
      value={data['action']}
      onChange={onChange}
    />
  );
  if (isObject(data['action']))
    return (
      <>
        <Properties schema={onlyFields(schema, ['connection'])} {...own} />
        {action}
        <Layers schema={withoutFields(schema, [...OF_ADDRESS, ...OF_ACTION, 'connection', 'settings'])} {...own} />
        <Layers schema={settings} path={['settings']} value={data['settings']} isRest onChange={onChange} />
      </>
    );
  return (
    <>
      {!isReadOnly && (
        <div className="http-begin">
          {action}
          <Button variant="quiet" onClick={() => setIsImporting(true)}>
            Import cURL
          </Button>
        </div>
      )}
      {isImporting && (
        <CurlDialog data={data} onImport={(imported) => onChange([], imported)} onClose={() => setIsImporting(false)} />
      )}
      <div className="http-address">
        <Properties schema={onlyFields(schema, ['method'])} {...own} />
        <VariableText
          schema={plainUrl}
          path={['url']}
          label={titleOf(url, 'url')}
          value={data['url']}
          isRequired
          onChange={(path, value) => onChange(path, value ?? '')}
        />
      </div>
      <Query address={asText(data['url']) ?? ''} onChange={(address) => onChange(['url'], address)} />
      <Properties schema={onlyFields(schema, ['headers'])} {...own} />
      <Body schema={propertiesOf(schema)['body'] ?? {}} data={data} onChange={onChange} />
      <Layers schema={withoutFields(schema, [...OF_ADDRESS, ...OF_ACTION, 'settings'])} {...own} />
      <Layers schema={settings} path={['settings']} value={data['settings']} isRest onChange={onChange} />
    </>
  );
}

/** Edits the query of the address as a table. The address field contains the query as well. */
function Query({ address, onChange }: { address: string; onChange: (address: string) => void }) {
  const [rows, setRows] = useState<readonly QueryRow[]>(() => queryRows(address));
  const shown = withQuery(address, rows) === address ? rows : queryRows(address);
  return (
    <RecordTable
      label="Query"
      path={['url', '?']}
      rows={shown}
      isText
      onChange={(next) => {
        // A changed row loses `written`, so that it is encoded again.
        const written = next.map((row) =>
          shown.some((old) => old === row) ? (row as QueryRow) : { name: row.name, value: String(row.value) },
        );
        setRows(written);
        onChange(withQuery(address, written));
      }}
    />
  );
}

const TYPES: readonly { value: BodyType; label: string }[] = [
  { value: 'none', label: 'None' },
  { value: 'json', label: 'JSON' },
  { value: 'form', label: 'Form' },
  { value: 'text', label: 'Text' },
  { value: 'file', label: 'File' },
  { value: 'form-files', label: 'Form with files' },
];

/**
 * Returns the type to show: a chosen JSON or text while the body is absent or a text, else the type of the stored body.
 * Incomplete JSON is stored as a text, and a text that is a single variable counts as JSON. The types for forms and
 * files always have a body, so an absent body means that the choice was undone.
 */
function shownType(data: JsonObject, chosen: BodyType): BodyType {
  const stored = bodyTypeOf(data);
  const isTyped = chosen === 'json' || chosen === 'text';
  if (stored === 'none') return isTyped ? chosen : 'none';
  return typeof data['body'] === 'string' && isTyped ? chosen : stored;
}

function Body({
  schema,
  data,
  onChange,
}: {
  schema: JsonObject;
  data: JsonObject;
  onChange: HttpFormProps['onChange'];
}) {
  const [chosen, setChosen] = useState(() => bodyTypeOf(data));
  const type = shownType(data, chosen);
  const label = titleOf(schema, 'body');
  // Chooses the shown type, which an import may have brought, so that the type stays when a person empties the field.
  const edit: HttpFormProps['onChange'] = (path, value) => {
    setChosen(type);
    onChange(path, value);
  };
  const field = { path: ['body'], label, value: data['body'], onChange: edit };
  const choose = (next: BodyType): void => {
    setChosen(next);
    onChange([], toBodyType(data, next));
  };
  return (
    <div className="form-variants" data-path="body">
      <SelectField label={`${label} type`} value={type} options={TYPES} onChange={(next) => choose(next as BodyType)} />
      {type === 'json' && <SchemaField schema={schema} {...field} />}
      {type === 'text' && <VariableText schema={{ type: 'string' }} {...field} isLong />}
      {(type === 'file' || type === 'form-files') && <FilesBody type={type} label={label} {...{ data, onChange }} />}
      {type === 'form' && <SchemaField schema={{ type: 'object', format: 'record' }} {...field} />}
    </div>
  );
}

interface FilesBodyProps extends Pick<HttpFormProps, 'data' | 'onChange'> {
  type: keyof typeof BODY_KEYS;
  label: string;
}

/** A file as the whole body, or a form with files. The page provides the control, because files belong to a project. */
function FilesBody({ type, label, data, onChange }: FilesBodyProps) {
  const key = BODY_KEYS[type];
  const value = asObject(data['body'])[key];
  return <SchemaField schema={{ format: type }} path={['body', key]} {...{ label, value, onChange }} />;
}
