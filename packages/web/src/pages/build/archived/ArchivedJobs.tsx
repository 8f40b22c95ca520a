import type { BuildAddress } from '../../../api/addresses.ts'
import { addressOf } from '../../../api/call.ts'
import type { Schemas } from '../../../api/operations.ts'
import { showLabel } from '../../../parts/labels.ts'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { Table } from '../../../parts/Table.tsx'
import { Duration } from '../../../parts/time/Time.tsx'
import { formatSize } from '../tabs/sizes.ts'
import { nameOf, readableLogs } from './read-archive.ts'

interface Props {
  address: BuildAddress
  document: Schemas['ArchivedBuildDocument']
}

/** Every attempt is a row, in the order of the steps. */
export function ArchivedJobs({ address, document }: Props) {
  const jobs = (document.build.jobs ?? []).filter(({ type }) => type !== 'waiter')
  const steps = new Map(document.steps.map((step) => [step.id, step]))
  const sizes = readableLogs(document)
  return (
    <Table
      label="Jobs"
      rows={jobs}
      columns={[
        {
          head: 'Name',
          titleOf: (job) => nameOf(job, steps),
          render: (job) => `${nameOf(job, steps)}${attemptOf(job)}`,
        },
        {
          head: 'State',
          render: ({ state, soft_failed: softFailed, unblockable = false }) => (
            <StateBadge
              kind="job"
              state={state}
              detail={{ softFailed, unblockable }}
              isQuiet={state === 'passed'}
            />
          ),
        },
        { head: 'Exit', look: 'number', render: ({ exit_status: status }) => status },
        { head: 'Agent', look: 'aside', render: ({ agent }) => agent && showLabel(agent.name) },
        {
          head: 'Duration',
          look: 'number',
          render: ({ started_at: from, finished_at: to }) =>
            from !== null && to !== null && <Duration from={from} to={to} />,
        },
        {
          head: 'Log',
          render: (job) => {
            const size = sizes.get(job.id)
            if (job.started_at === null) return null
            return size === undefined ? (
              <span className="muted">not kept</span>
            ) : (
              <a href={logOf(address, job.id)} aria-label={`Log of ${showLabel(nameOf(job, steps))}`}>
                {formatSize(size)}
              </a>
            )
          },
        },
      ]}
    />
  )
}

const attemptOf = ({ retries_count: retries }: Schemas['Job']) =>
  retries === null || retries === 0 ? '' : ` (attempt ${retries + 1})`

const logOf = (address: BuildAddress, job: string) =>
  addressOf('/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}/jobs/{job}/log.txt', {
    ...address,
    job,
  })
