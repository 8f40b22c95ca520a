import type { Schemas } from '../../api/operations.ts'
import { Duration } from '../../parts/time/Time.tsx'

type Timed = Pick<Schemas['Build'], 'started_at' | 'finished_at' | 'worked_before_seconds'>

/** The time that the build ran, without the time between its end and a retry. */
export const BuildDuration = ({ build }: { build: Timed }) => (
  <Duration from={build.started_at} to={build.finished_at} earlierSeconds={build.worked_before_seconds} />
)
