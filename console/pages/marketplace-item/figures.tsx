import { Money, Time } from '../../ui/figures.js';
import { Fee } from '../marketplace/fee.js';
import { languageName, useLanguages, type Published } from '../marketplace/marketplace-list.js';

const COUNT = new Intl.NumberFormat();

export function Figures({ workflow }: { workflow: Published }) {
  const languages = useLanguages().data;
  return (
    <dl className="marketplace-figures">
      <div>
        <dt>Fee</dt>
        <dd>
          <Fee workflow={workflow} />
        </dd>
      </div>
      <div>
        <dt>Average cost of a run</dt>
        <dd>
          <Money amount={workflow.marketplace_price_avg} />
        </dd>
      </div>
      <div>
        <dt>Users</dt>
        <dd>{COUNT.format(workflow.total_users_count)}</dd>
      </div>
      <div>
        <dt>Runs</dt>
        <dd>{COUNT.format(workflow.total_runs_count)}</dd>
      </div>
      <div>
        <dt>Last run</dt>
        <dd>
          <Time at={workflow.last_run_at} />
        </dd>
      </div>
      <div>
        <dt>Languages</dt>
        <dd>{workflow.available_languages.map((code) => languageName(languages, code)).join(', ')}</dd>
      </div>
    </dl>
  );
}
