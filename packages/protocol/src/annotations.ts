// Notes that a job leaves on its build.
import { Type, type Static } from 'typebox'
import { maybe } from './maybe.ts'

export const AnnotationStyle = Type.Union([
  Type.Literal('success'),
  Type.Literal('info'),
  Type.Literal('warning'),
  Type.Literal('error'),
])
export type AnnotationStyle = Static<typeof AnnotationStyle>

export type AnnotationScope = 'build' | 'job'

export const AnnotateRequest = Type.Object({
  /** Absent with a style: only the style changes. */
  body: maybe(Type.String()),
  /** `default` when absent. */
  context: maybe(Type.String({ maxLength: 100 })),
  style: maybe(Type.Union([AnnotationStyle, Type.Literal('')])),
  append: maybe(Type.Boolean()),
  /** 1 to 10; 3 when absent or 0. */
  priority: maybe(Type.Integer({ minimum: 0, maximum: 10 })),
  /** `build` when absent. */
  scope: maybe(Type.Union([Type.Literal('build'), Type.Literal('job'), Type.Literal('')])),
})
export type AnnotateRequest = Static<typeof AnnotateRequest>
