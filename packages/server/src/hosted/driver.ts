// What runs hosted clusters: something outside this process that can refuse, lack a thing, or not answer.

export interface HostedDriver {
  /** Takes effect for jobs that start afterwards. */
  setGitMirror(clusterId: string, enabled: boolean): Promise<void>
  setContainerCache(clusterId: string, enabled: boolean): Promise<void>
}

/** The driver could not be reached or did not finish; nothing changed, and asking again is safe. */
export class HostedUnavailable extends Error {}
