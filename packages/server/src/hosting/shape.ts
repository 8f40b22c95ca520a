import type { Limits } from '../hosted/driver.ts'
import { hostedTags, ownArchitecture, readShape } from '../resources/queues/rules.ts'

export interface RunnableShape {
  cpus: number
  limits: Limits
  /** What the agent says it is. */
  tags: string[]
}

const processesPerCpu = 1024

/** null: this installation cannot start such a machine. */
export function readRunnable(shapeName: string): RunnableShape | null {
  const shape = readShape(shapeName)
  const { machine_type, architecture, cpu, memory } = shape
  if (machine_type !== 'linux' || architecture !== ownArchitecture) return null
  return {
    cpus: cpu,
    limits: { cpus: cpu, memoryMb: memory * 1024, processes: cpu * processesPerCpu },
    tags: hostedTags(shape),
  }
}
