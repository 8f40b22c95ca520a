/** The parameters of requests about a build. */
export type BuildAddress = {
  org: string
  pipeline: string
  /** Its number. */
  build: number
}

export type JobAddress = BuildAddress & { job: string }

/** Of an annotation on the page of its build. The server links to it, too. */
export const annotationAnchor = (id: string): string => `annotation-${id}`
