import { Type } from 'typebox'

export const JobLog = Type.Object(
  {
    url: Type.String(),
    content: Type.String({
      description: 'What the job wrote, with its terminal codes. Time codes only with `timestamps=true`.',
    }),
    size: Type.Integer({ description: 'Bytes that the agent sent, time codes included.' }),
    header_times: Type.Array(Type.Integer(), {
      description: 'When each section began: nanoseconds since 1970.',
    }),
  },
  { title: 'JobLog' },
)

export const LogLines = Type.Object(
  {
    lines: Type.Array(
      Type.Object({
        offset: Type.Integer({ description: 'Where the line begins in the log, in bytes.' }),
        time: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
          description: 'When the line was written, if the agent reported it.',
        }),
        text: Type.String({ description: 'With its terminal codes, but those of time.' }),
      }),
    ),
    next_offset: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Where to go on; null when the log ends here for good.',
    }),
  },
  { title: 'LogLines' },
)
