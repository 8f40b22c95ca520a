// Schemas that every slice uses.
import { Type, type TLiteral, type TSchema } from 'typebox'

export const Uuid = Type.String({ format: 'uuid' })

export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-02T03:04:05.678Z'] })

/* A field of this kind, with its description in the OpenAPI document. */
export const text = (description: string) => Type.String({ description })
export const integer = (description: string) => Type.Integer({ description })
export const boolean = (description: string) => Type.Boolean({ description })
export const count = (description: string) => Type.Integer({ minimum: 0, description })
export const uuid = (description: string) => Type.String({ format: 'uuid', description })
export const timestamp = (description: string) => Type.String({ ...Timestamp, description })

type Literals<T extends readonly string[]> = { -readonly [Index in keyof T]: TLiteral<T[Index]> }

/** The cast says what `map` does not: there is one literal for each value. */
export const oneOf = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Union<Literals<T>>(
    values.map((value) => Type.Literal(value)) as [...Literals<T>],
    description === undefined ? {} : { description },
  )

/** The links of a list with cursors. */
export const CursorLinks = Type.Object(
  {
    self: text('This page.'),
    first: Type.Optional(text('The first page; absent on it.')),
    prev: Type.Optional(text('The page before this one; absent when there is none.')),
    next: Type.Optional(text('The page behind this one; absent when there is none.')),
  },
  { description: 'Links to this page and its neighbours; the `Link` header repeats them.' },
)

/** The response of a list with cursors. */
export const cursorList = <T extends TSchema>(item: T, title: string) =>
  Type.Object({ items: Type.Array(item), links: CursorLinks }, { title })

/** The query parameter that adds `viewer` to a response. */
export const IncludeViewer = {
  include_viewer: Type.Optional(boolean('Add `viewer`: what the caller may do. Default false.')),
}

/** `viewer` of a response: what the caller may do, whatever the scopes of the token are. */
export const viewerOf = <T extends Record<string, TSchema>>(may: T) =>
  Type.Optional(
    Type.Object(
      {
        may: Type.Object(may, {
          description: 'What the caller may do, as far as the scopes of the token allow it.',
        }),
      },
      { description: 'The caller’s view of it; only with `include_viewer=true`.' },
    ),
  )

/** The description of the field stands at null, because the document refers to a schema with a title by name. */
export const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null(description === undefined ? {} : { description })])

/** A field of a body that may be absent or null. */
export const optional = <T extends TSchema>(schema: T, description?: string) =>
  Type.Optional(orNull(schema, description))

/**
 * A schema that several fields share, with the description of one of them. The document refers to a schema with a title by
 * name, and shows the description beside the reference.
 */
export const described = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema], { description })

export const Emoji = orNull(
  Type.String({
    pattern: '^(:[\\w+-]{1,100}:)?$',
    description:
      'Emoji in colon syntax, such as `:rocket:`; null when none is set. Must be an emoji in colon syntax, such as :rocket:.',
    examples: [':rocket:'],
  }),
)
