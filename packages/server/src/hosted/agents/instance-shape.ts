import type { Limits } from '../driver.ts'
import { hostedTags, isRunnable, limitsOf, readShape } from '../../resources/queues/rules.ts'

export interface RunnableShape {
  cpus: number
  limits: Limits
  /** What the agent says it is. */
  tags: string[]
}

/** null: this installation cannot start such a machine. */
export function readRunnable(shapeName: string): RunnableShape | null {
  const shape = readShape(shapeName)
  if (!isRunnable(shape)) return null
  return { cpus: shape.cpu, limits: limitsOf(shape), tags: hostedTags(shape) }
}
