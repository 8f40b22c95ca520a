import type { Limits } from '../hosted/driver.ts'
import { readShape } from '../resources/queues/rules.ts'

export interface RunnableShape {
  cpus: number
  limits: Limits
  /** What the agent says it is. */
  tags: string[]
}

const processesPerCpu = 1024

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** null: this installation cannot start such a machine. */
export function readRunnable(shapeName: string): RunnableShape | null {
  const { machine_type, architecture, cpu, memory } = readShape(shapeName)
  if (machine_type !== 'linux' || architecture !== architectures[process.arch]) return null
  return {
    cpus: cpu,
    limits: { cpus: cpu, memoryMb: memory * 1024, processes: cpu * processesPerCpu },
    tags: ['os=linux', `arch=${architecture}`, `shape=${shapeName}`, 'hosted=true'],
  }
}
