import { Link } from '@tanstack/react-router'
import { Icon } from '../../../parts/Icon.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { Menu } from '../../../parts/Menu.tsx'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { Table } from '../../../parts/Table.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import { teamPath } from '../../teams/queries.ts'
import { showMoney } from '../words.ts'
import { BudgetBar, budgetState } from './BudgetBar.tsx'
import type { Budget } from './queries.ts'

interface Props {
  org: string
  budgets: readonly Budget[]
  viewsTeams: boolean
  /** Absent for those who may change none. */
  onAct?: ((act: 'edit' | 'delete', budget: Budget) => void) | undefined
}

export const BudgetTable = ({ org, budgets, viewsTeams, onAct }: Props) => (
  <Table
    label="Budgets"
    rows={budgets}
    columns={[
      {
        head: 'Budget of',
        titleOf: subjectOf,
        render: (budget) => <Subject org={org} budget={budget} viewsTeams={viewsTeams} />,
      },
      {
        head: 'Spent',
        render: ({ percent }) => (
          <>
            <BudgetBar percent={percent} /> {percent.toLocaleString()} %
          </>
        ),
      },
      {
        head: 'State',
        render: ({ percent }) => (
          <StateBadge kind="budget" state={budgetState(percent)} isQuiet={percent < 80} />
        ),
      },
      {
        head: 'Amount',
        look: 'number',
        render: ({ spent, amount, currency }) =>
          `${showMoney(spent, currency)} of ${showMoney(amount, currency)}`,
      },
      {
        head: 'Last notice',
        look: 'aside',
        render: ({ last_notice: notice }) =>
          notice === null ? (
            'None'
          ) : (
            <>
              {notice.share} %, <Time at={notice.at} />
            </>
          ),
      },
    ]}
    {...(onAct === undefined
      ? {}
      : {
          renderAction: (budget: Budget) => (
            <Menu
              label={`More about the budget of ${showLabel(subjectOf(budget))}`}
              entries={[
                { label: 'Change…', icon: 'pencil', action: () => onAct('edit', budget) },
                { label: 'Delete…', icon: 'trash', isDanger: true, action: () => onAct('delete', budget) },
              ]}
            >
              <Icon name="ellipsis" />
            </Menu>
          ),
        })}
  />
)

export const subjectOf = ({ pipeline, team }: Budget): string => (pipeline ?? team)?.name ?? ''

function Subject({ org, budget, viewsTeams }: { org: string; budget: Budget; viewsTeams: boolean }) {
  const { pipeline, team } = budget
  const name = showLabel(subjectOf(budget))
  return (
    <>
      {pipeline !== null ? (
        <Link to="/$org/$pipeline" params={{ org, pipeline: pipeline.slug }}>
          {name}
        </Link>
      ) : team !== null && viewsTeams ? (
        <Link to={teamPath(org, team.id)}>{name}</Link>
      ) : (
        name
      )}{' '}
      <span className="muted">{pipeline === null ? 'Team' : 'Pipeline'}</span>
    </>
  )
}
