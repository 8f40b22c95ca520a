import { useIsFetching, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../../parts/Button.tsx'
import { ConfirmDialog } from '../../../parts/dialogs/ConfirmDialog.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { Empty, NotLoaded } from '../../../parts/States.tsx'
import { showToast } from '../../../parts/toasts/toasts.ts'
import { organizationQuery } from '../../../shell/queries.ts'
import { BudgetDialog } from './BudgetDialog.tsx'
import { BudgetTable, subjectOf } from './BudgetTable.tsx'
import { budgetsQuery, deleteBudget, type Budget } from './queries.ts'
import styles from './Budgets.module.css'

/** What pipelines and teams may cost in the month that is running, and what of it is spent. */
export function Budgets({ org }: { org: string }) {
  const queryClient = useQueryClient()
  const { data: organization } = useQuery(organizationQuery(org))
  const list = useQuery(budgetsQuery(org))
  const [open, setOpen] = useState<'new' | { act: 'edit' | 'delete'; budget: Budget } | null>(null)
  const { administer: mayManage = false, view_teams: viewsTeams = false } = organization?.viewer?.may ?? {}
  const section = useShownWhenLoaded(list.isSuccess)
  const close = () => setOpen(null)
  const changing = open === 'new' ? null : open
  return (
    <section ref={section} id="budgets" className={styles.section}>
      <SectionHead title={titleOf(list.data)}>
        {mayManage && (
          <Button isWrite icon="plus" onClick={() => setOpen('new')}>
            New budget
          </Button>
        )}
      </SectionHead>
      {list.data === undefined ? (
        <NotLoaded query={list} rows={3} />
      ) : list.data.length === 0 ? (
        <NoBudget org={org} mayManage={mayManage} />
      ) : (
        <>
          <BudgetTable
            org={org}
            budgets={list.data}
            viewsTeams={viewsTeams}
            onAct={mayManage ? (act, budget) => setOpen({ act, budget }) : undefined}
          />
          <p className={styles.legend}>
            The lines on a bar are 80 % and 100 % of the amount. At each of them a notice is sent; nothing is
            refused. {list.data.every(({ spent }) => spent === 0) && <Price org={org} />}
          </p>
        </>
      )}
      {open === 'new' && <BudgetDialog org={org} budget={null} onClose={close} />}
      {changing?.act === 'edit' && <BudgetDialog org={org} budget={changing.budget} onClose={close} />}
      {changing?.act === 'delete' && (
        <ConfirmDialog
          title={`Delete the budget of ${showLabel(subjectOf(changing.budget))}?`}
          action="Delete this budget"
          onConfirm={async () => {
            await deleteBudget(org, changing.budget.id)
            await queryClient.invalidateQueries({ queryKey: budgetsQuery(org).queryKey })
            showToast('The budget is deleted.')
          }}
          onClose={close}
        >
          <p>No notice comes for it any more. What its jobs have cost stays on this page.</p>
        </ConfirmDialog>
      )}
    </section>
  )
}

/** For a section that the address names: what is above it comes later, and would push it away. */
function useShownWhenLoaded(isLoaded: boolean) {
  const section = useRef<HTMLElement>(null)
  const [isWanted] = useState(() => location.hash === '#budgets')
  const isDone = useRef(!isWanted)
  const isOtherLoading = useIsFetching({ predicate: ({ state }) => state.data === undefined }) > 0
  useEffect(() => {
    if (isDone.current || !isLoaded || isOtherLoading) return
    isDone.current = true
    section.current?.scrollIntoView()
  }, [isLoaded, isOtherLoading])
  return section
}

/** "Budgets of November 2026". */
function titleOf([first]: readonly Budget[] = []): string {
  if (first === undefined) return 'Budgets'
  const month = new Date(`${first.month}-01T00:00:00Z`)
  return `Budgets of ${month.toLocaleDateString(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })}`
}

const NoBudget = ({ org, mayManage }: { org: string; mayManage: boolean }) => (
  <Empty title="No budgets yet">
    A budget is what a pipeline, or all pipelines of a team, may cost in a month. When 80 % and when 100 % of
    it are spent, a notice is sent; nothing is refused, and no job stops. <Price org={org} />
    {!mayManage && ' An administrator of the organization sets budgets.'}
  </Empty>
)

const Price = ({ org }: { org: string }) => (
  <>
    Jobs cost something once a minute of{' '}
    <Link to="/organizations/$org/clusters" params={{ org }}>
      their queue
    </Link>{' '}
    has a price.
  </>
)
