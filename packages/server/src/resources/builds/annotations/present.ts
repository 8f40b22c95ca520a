import type { Static } from 'typebox'
import type { AnnotationRow } from './queries.ts'
import type { Annotation } from './schema.ts'

type Wire = Static<typeof Annotation>

export const presentAnnotation = (row: AnnotationRow, html: string): Wire => ({
  ...presentOutline(row),
  body_html: html,
})

/** Without the body. */
export const presentOutline = (row: AnnotationRow): Wire => ({
  id: row.id,
  context: row.context,
  style: row.style,
  scope: row.job_id === null ? 'build' : 'job',
  job_id: row.job_id,
  priority: row.priority,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
