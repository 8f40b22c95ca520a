// The three steps of a first run, and which of them are done. They follow what is there, so they tick themselves.
export interface FirstRun {
  hasAgent: boolean
  /** The newest build of the demo pipeline. */
  demoBuild: { number: number; state: string } | null
  hasDemo: boolean
  hasOwnPipeline: boolean
}

export interface Step {
  id: 'agent' | 'demo' | 'pipeline'
  title: string
  isDone: boolean
}

export const demoSlug = 'demo'

export const stepsOf = ({ hasAgent, demoBuild, hasDemo, hasOwnPipeline }: FirstRun): Step[] => [
  { id: 'agent', title: 'An agent is connected', isDone: hasAgent },
  ...(hasDemo ? [{ id: 'demo' as const, title: 'Run the demo', isDone: demoBuild?.state === 'passed' }] : []),
  { id: 'pipeline', title: 'Make your first pipeline', isDone: hasOwnPipeline },
]
