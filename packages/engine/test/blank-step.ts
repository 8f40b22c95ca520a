import { NO_EDGE_TALLY, NO_UPLOAD_TALLY } from '../src/dependencies.ts'
import type { StepRow } from '../src/rows.ts'
import { NO_STEP_TALLY } from '../src/tally.ts'

export function blankStep(given: Partial<StepRow> = {}): StepRow {
  return {
    id: 's',
    kind: 'command',
    key: null,
    position: '0001',
    groupId: null,
    uploaderId: null,
    uploadPath: [],
    barrier: null,
    continueOnFailure: false,
    phase: 'new',
    missing: 0,
    impossible: false,
    ...NO_STEP_TALLY,
    ...NO_EDGE_TALLY,
    ...NO_UPLOAD_TALLY,
    ...given,
  }
}
