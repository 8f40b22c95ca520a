import type { Limits } from '../driver.ts'
import { hostedTags, isRunnable, limitsOf, readShape } from '../../resources/queues/rules.ts'

export interface RunnableShape {
  cpus: number
  limits: Limits
  /** The tags of the agent. */
  tags: string[]
}

/** null: this installation cannot start such a machine. */
export function readRunnableShape(name: string): RunnableShape | null {
  const shape = readShape(name)
  if (!isRunnable(shape)) return null
  return { cpus: shape.cpu, limits: limitsOf(shape), tags: hostedTags(shape) }
}
