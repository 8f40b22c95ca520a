interface AgentSearch {
  state?: 'all'
}

export const readAgentSearch = ({ state }: Record<string, unknown>): AgentSearch =>
  state === 'all' ? { state } : {}
