export interface TimeLimits {
  pipelineDefaultMinutes: number | null
  organizationDefaultMinutes: number | null
  pipelineMaximumMinutes: number | null
  organizationMaximumMinutes: number | null
}

/** How long a command job may run; null: for ever. A job without a limit of its own gets the maximum. */
export function timeoutMinutes(stepMinutes: number | null, limits: TimeLimits): number | null {
  const wanted = stepMinutes ?? limits.pipelineDefaultMinutes ?? limits.organizationDefaultMinutes
  const caps = [wanted, limits.pipelineMaximumMinutes, limits.organizationMaximumMinutes]
  const minutes = caps.filter((cap) => cap !== null)
  return minutes.length === 0 ? null : Math.min(...minutes)
}
