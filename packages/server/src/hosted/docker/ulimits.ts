/** Said, because what engines choose by themselves is more than some machines allow them to. */
export const ulimits = ['nofile', 'nproc'].map((Name) => ({ Name, Soft: 16_384, Hard: 16_384 }))
