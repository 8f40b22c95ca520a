// Notes that a job leaves on its build.

export type AnnotationStyle = 'success' | 'info' | 'warning' | 'error'
export type AnnotationScope = 'build' | 'job'

export interface AnnotateRequest {
  /** Absent with a style: only the style changes. */
  body?: string
  /** `default` when absent. */
  context?: string
  style?: AnnotationStyle
  append?: boolean
  /** 1 to 10, 3 when absent. */
  priority?: number
  /** `build` when absent. */
  scope?: AnnotationScope
}

export interface AnnotationRemoveQuery {
  scope?: AnnotationScope
}
