import { useNavigate } from '@tanstack/react-router'
import type { RefObject } from 'react'
import type { BuildAddress } from '../../api/addresses.ts'
import { nextFailure } from '../../graph/jobs/job-groups.ts'
import type { JobTable } from '../../graph/jobs/job-table.ts'
import { announceNow } from '../../parts/announce.ts'
import { useKeys, type KeyAction } from '../../parts/keys.ts'
import { useNewestNumber } from './BuildFacts.tsx'
import { sameBuild, views, withView, type ViewName } from './search.ts'
import type { Selection } from './selection.ts'

interface Input {
  address: BuildAddress
  table: JobTable
  selection: Selection
  toggleDock: () => void
  toggleFull: () => void
  workspace: RefObject<HTMLDivElement | null>
}

export function useBuildKeys({ address, table, selection, toggleDock, toggleFull, workspace }: Input): void {
  const navigate = useNavigate()
  const newest = useNewestNumber(address)
  const number = address.build

  const walk = (step: 1 | -1) => {
    const found = nextFailure(table.groups().jobs.failed, selection.job, step)
    if (found === null) return announceNow('No job has failed.')
    selection.select(found.job.id, { isQuiet: selection.job !== null })
    announceNow(`${found.position} of ${found.total}: ${found.job.name.slice(0, 100)}`)
  }
  const show = (view: ViewName) => navigate({ ...sameBuild, search: (before) => withView(before, view) })
  const search = async () => {
    await show('table')
    requestAnimationFrame(() => workspace.current?.querySelector<HTMLElement>('input[type=search]')?.focus())
  }
  const goTo = (target: number) => {
    if (target < 1 || target > newest) return
    void navigate({
      to: '/$org/$pipeline/builds/$number',
      params: { org: address.org, pipeline: address.pipeline, number: String(target) },
    })
  }

  const actions: KeyAction[] = [
    { keys: 'f', label: 'Next failure', run: () => walk(1) },
    { keys: 'F', label: 'Previous failure', run: () => walk(-1) },
    { keys: 's', label: 'Find a step', run: () => void search() },
    ...views.map((view, index) => ({
      keys: String(index + 1),
      label: `Show the ${view}`,
      run: () => void show(view),
    })),
    { keys: '[', label: 'Previous build', run: () => goTo(number - 1) },
    { keys: ']', label: 'Next build', run: () => goTo(number + 1) },
    { keys: 'd', label: 'Dock the job right or below', run: toggleDock },
    { keys: 'x', label: 'Show the job on the whole page', run: toggleFull },
    { keys: 'Escape', label: 'Close the job', run: () => selection.job !== null && selection.select(null) },
  ]
  useKeys(actions)
}
