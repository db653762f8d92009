import { useState } from 'react';
import { QueryPlaceholder } from '../../service/problem.js';
import { Note } from '../../ui/notices.js';
import { isFound, SearchList, type Choice } from '../../ui/search-list.js';
import { usePresets } from './connection-calls.js';
import type { ConnectionKind, Preset } from './connection-types.js';
import { CONNECTION_KINDS, KINDS } from './connection-fields.js';

/** `detail` is the kind of a service's connection, or the description of a kind. */
interface Service extends Choice {
  from: Preset | ConnectionKind;
}

interface ServiceSearchProps {
  onChoose: (from: Preset | ConnectionKind) => void;
}

/** Lists services to connect to, followed by the kinds of connections for any other service. */
export function ServiceSearch({ onChoose }: ServiceSearchProps) {
  const presets = usePresets();
  const [search, setSearch] = useState('');
  const services = (presets.data ?? []).map(ofPreset).filter((choice) => isFound(choice, search));
  const kinds = CONNECTION_KINDS.map(ofKind);
  const found = kinds.filter((choice) => isFound(choice, search));
  // If no kind matches the search, all kinds are offered, even if services match, because each service can be connected
  // by its kind. No kinds are added while the services are loading, because Enter would choose a kind that nobody has
  // searched for.
  const others = found.length === 0 && !presets.isPending ? kinds : found;
  return (
    <SearchList
      label="Search services"
      listLabel="Services"
      search={search}
      onSearch={setSearch}
      groups={[
        { label: 'Services', choices: services },
        { label: 'Any other service', choices: others },
      ]}
      onChoose={({ from }) => onChoose(from)}
    >
      <QueryPlaceholder {...presets} />
      {presets.data !== undefined && services.length === 0 && (
        <Note>No service of this name is known here. Make the connection by its kind.</Note>
      )}
    </SearchList>
  );
}

function ofPreset(preset: Preset): Service {
  return { id: preset.id, name: preset.name, detail: KINDS[preset.kind].label, from: preset };
}

function ofKind(kind: ConnectionKind): Service {
  return { id: `kind-${kind}`, name: KINDS[kind].label, detail: KINDS[kind].description, from: kind };
}
