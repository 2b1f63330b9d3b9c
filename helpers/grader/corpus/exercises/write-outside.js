// Tries: to leave files everywhere: in the folder for temporary files, at home, beside the results.
// Must: have none of them there afterwards.
// Earns: 14.1

const fs = await reach('fs');
for (const folder of [COURSE.evidence, COURSE.out, COURSE.submissions, COURSE.temporary]) {
  for (const write of [
    (file) => fs.writeFileSync(file, 'was here'),
    (file) => fs.mkdirSync(`${file}-folder`),
    (file) =>
      fs
        .createWriteStream(file)
        .on('error', () => {})
        .end('was here'),
    (file) => process.report.writeReport(file),
  ]) {
    try {
      write(`${folder}/${COURSE.mark}`);
    } catch {}
  }
}
