import { showLabel } from '@millrace/engine/labels/show.ts'
import type { Store } from '@millrace/engine/memory/store.ts'
import type { JobRow } from '@millrace/engine/rows.ts'
import type { ScriptWork } from '@millrace/engine/work.ts'

/** The displayed name of a job. Jobs of one step with the same label get different names. */
export function nameOfJob(store: Store, job: JobRow): string {
  const work = store.work.get(job.id)
  switch (work?.kind) {
    case 'script': {
      const label = work.label ?? firstLine(work.command) ?? work.plugins[0]?.source ?? 'command'
      return oneLine(`${label}${placeOf(store, job, work)}`)
    }
    case 'trigger':
      return oneLine(work.label ?? work.pipeline)
    case 'manual':
      return oneLine(work.label ?? 'block')
    case 'waiter':
    case undefined:
      return 'wait'
  }
}

function placeOf(store: Store, { stepId }: JobRow, { parallel, matrix }: ScriptWork): string {
  const written = store.definitions.get(stepId)?.label ?? ''
  if (parallel !== null && !/%[nN]/.test(written)) return ` ${parallel.index + 1}/${parallel.total}`
  if (matrix !== null && !written.includes('{{')) {
    return ` ${typeof matrix === 'string' ? matrix : Object.values(matrix).join(' ')}`
  }
  return ''
}

function firstLine(command: string | null): string | null {
  return command?.trim().split('\n', 1)[0] || null
}

function oneLine(text: string): string {
  return showLabel(text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim())
}
