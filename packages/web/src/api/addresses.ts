/** The parameters of requests about a build. */
export type BuildAddress = {
  org: string
  pipeline: string
  /** Its number. */
  build: number
}

export type JobAddress = BuildAddress & { job: string }
