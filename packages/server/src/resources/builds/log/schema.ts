import { Type } from 'typebox'
import { boolean, integer, text } from '../../schema.ts'

export const JobLog = Type.Object(
  {
    url: Type.String(),
    content: text('What the job wrote, with its terminal codes. Time codes only with `timestamps=true`.'),
    size: integer('Bytes that the agent sent, time codes included.'),
    header_times: Type.Array(Type.Integer(), {
      description: 'When each section began: nanoseconds since 1970.',
    }),
  },
  { title: 'JobLog' },
)

const millisecondsOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

/** `[time, run, …]`. JSON Schema cannot say more of a list whose first item differs. */
const LogRow = Type.Array(Type.Unknown(), {
  minItems: 1,
  description:
    'First the time of the row in milliseconds since 1970, or null. Then its runs of text, each `"text"`, `["text", "style"]` or `["text", "style", "link"]`. A style is a list of words: `fg0` to `fg15`, `bg0` to `bg15`, `fg#rrggbb`, `bg#rrggbb`, `bold`, `dim`, `italic`, `underline`, `inverse`, `strike`.',
})

export const LogRows = Type.Object(
  {
    from: integer('The number of the first row. Rows are numbered from 1, as in log.html.'),
    total: integer('How many rows the log has as of now.'),
    is_final: boolean('The job has ended.'),
    rows: Type.Array(LogRow, { description: 'Fewer than asked for if they are very long.' }),
  },
  { title: 'LogRows' },
)

export const LogIndex = Type.Object(
  {
    rows: integer('How many rows the log has as of now.'),
    size: integer('In bytes, time codes included.'),
    is_final: boolean('The job has ended.'),
    groups: Type.Array(
      Type.Object({
        kind: text('One of `---`, `+++` and `~~~`. A row `^^^ +++` makes its group `+++`.'),
        name: Type.String(),
        row: integer('The row of its header.'),
        time: millisecondsOrNull('When it began: milliseconds since 1970.'),
        duration_ms: millisecondsOrNull(
          'How long it took; null while it is open, or when no times are known.',
        ),
      }),
      { description: 'In the order of their rows; at most 10,000.' },
    ),
    failing_row: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The row that probably shows why the job failed. null unless it has failed.',
    }),
    excerpt: Type.Union(
      [Type.Object({ from: integer('The first row.'), to: integer('The last row.') }), Type.Null()],
      { description: 'The rows around it that belong to the same part of the log; null where it is null.' },
    ),
    first_time: millisecondsOrNull('The first time in the log: milliseconds since 1970.'),
  },
  { title: 'LogIndex' },
)

export const LogSearch = Type.Object(
  {
    total: integer('How many matches there are.'),
    is_complete: boolean('Whether all rows were searched. A search ends after ten seconds.'),
    searched_rows: integer('How many rows were searched, from the first one.'),
    matches: Type.Array(Type.Array(Type.Integer()), {
      description:
        'The first 10,000: row, start and end in the text of the row, in UTF-16 code units; the end is exclusive.',
    }),
  },
  { title: 'LogSearch' },
)
