import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { showLabel } from '../../parts/labels.ts'
import { Table } from '../../parts/Table.tsx'
import { formatDuration } from '../../parts/time/durations.ts'
import { slowerQuery, type SlowerStep } from './queries.ts'

/** Nothing while no step is slower. */
export function SlowerSteps({ org }: { org: string }) {
  const { data: steps = [] } = useQuery(slowerQuery(org))
  if (steps.length === 0) return null
  return (
    <section>
      <h2>Slower than usual this week</h2>
      <Table
        label="Slower steps"
        rows={steps}
        columns={[
          { head: 'Step', render: (step) => <Name org={org} step={step} /> },
          { head: 'Now', look: 'number', render: ({ run_p50_seconds: now }) => formatDuration(now) },
          {
            head: 'Usually',
            look: 'number',
            titleOf: ({ spread_seconds: spread }) => `Days differ by up to ${formatDuration(spread)}`,
            render: ({ usual_seconds: usual }) => formatDuration(usual),
          },
          { head: 'Slower by', look: 'number', render: ({ change }) => `${Math.round(change * 100)} %` },
          { head: 'Jobs', look: 'number', render: ({ jobs }) => jobs.toLocaleString() },
        ]}
      />
    </section>
  )
}

const Name = ({ org, step: { name, pipeline } }: { org: string; step: SlowerStep }) => (
  <>
    {showLabel(name)}{' '}
    {pipeline !== null && (
      <Link to="/$org/$pipeline" params={{ org, pipeline: pipeline.slug }} className="muted">
        {showLabel(pipeline.name)}
      </Link>
    )}
  </>
)
