BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79529123109918975834e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.7952912311014053822e+09);
CREATE TABLE components (
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	component INTEGER NOT NULL, 
	cluster TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	reserves BOOLEAN NOT NULL, 
	seq INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	step TEXT NOT NULL, 
	reservation BOOLEAN NOT NULL, 
	started BOOLEAN NOT NULL, 
	native_id TEXT, 
	submit_time FLOAT, 
	hosts TEXT NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	cause TEXT, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1.79529123136575818062e+09,'',1.79529123136553549764e+09,1.79529123139875602726e+09,0,NULL,'');
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.79529123160103726382e+09,'vm',1.79529123161875605587e+09,1.79529123162675619124e+09,3,'exit','');
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.79529123181428503994e+09,'vm',1.79529123193475604052e+09,1.79529123193875622755e+09,0,NULL,'');
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.79529123181915855407e+09,'vm',1.79529123194275617601e+09,1.79529123194275617601e+09,0,NULL,'');
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'started','',0,1,'4',1795291232.37312,'vm',1.79529123237720203399e+09,NULL,NULL,NULL,'RUNNING');
INSERT INTO "components" VALUES(6,1,0,'delft',4,1,5,'started','',1,1,'5',1.79529123257870149607e+09,'vm',1.79529123270275616647e+09,NULL,NULL,NULL,'RUNNING');
INSERT INTO "components" VALUES(6,1,1,'leiden',4,1,5,'started','',1,1,'2',1.79529123257760047909e+09,'vm',1.79529123270675611493e+09,NULL,NULL,NULL,'RUNNING');
INSERT INTO "components" VALUES(7,1,0,'delft',2,0,6,'started','',0,1,'6',1.79529123279651808735e+09,'vm',1.79529123280275607109e+09,NULL,NULL,NULL,'RUNNING');
INSERT INTO "components" VALUES(8,1,0,'delft',1,0,7,'started','clean',0,1,'7',1.79529123303588557247e+09,'vm',1.79529123304275608063e+09,NULL,NULL,NULL,'RUNNING');
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79529123134372544292e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79529123134372544292e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79529123134372544292e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.795291231374073267e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.79529123139309620864e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": ""}');
INSERT INTO "events" VALUES(6,1.79529123142361450192e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.79529123142361450192e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.79529123159315133094e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.79529123159315133094e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.79529123159315133094e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.79529123160549855227e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79529123163114261631e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.79529123163114261631e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.79529123163114261631e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1.79529123179857158661e+09,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1.79529123179857158661e+09,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1.79529123180743384359e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79529123181212043759e+09,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79529123181212043759e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79529123181760621075e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(21,1.79529123182108163838e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(22,1.79529123182108163838e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1795291231.84558,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.79529123184751844403e+09,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.79529123189433550836e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.79529123196728277204e+09,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.79529123196728277204e+09,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(28,1.79529123196884727482e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(29,1.79529123196884727482e+09,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1.79529123196884727482e+09,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1795291232.19253,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.7952912322758619785e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.7952912322758619785e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.79529123236987447733e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.79529123236987447733e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(36,1.79529123236987447733e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(37,1.79529123237401533122e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(38,1.79529123240416121484e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(39,1.79529123257103323928e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(40,1.79529123257103323928e+09,6,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(41,1.79529123257457733152e+09,6,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(42,1.79529123257550787926e+09,6,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(43,1.79529123257550787926e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(44,1.79529123258332085608e+09,6,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(45,1.79529123259172201151e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(46,1.79529123259172201151e+09,6,1,'waiting','{}');
INSERT INTO "events" VALUES(47,1795291232.6094,6,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.79529123261088657381e+09,6,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(49,1.79529123265410041811e+09,6,1,'opened','{}');
INSERT INTO "events" VALUES(50,1.79529123273087024689e+09,6,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(51,1.79529123273323392871e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(52,1.79529123279164743417e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(53,1.79529123279164743417e+09,7,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(54,1.79529123279164743417e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(55,1.79529123279930067063e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(56,1.79529123283109498022e+09,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.79529123302678132062e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(58,1.79529123302678132062e+09,8,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(59,1.79529123302678132062e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(60,1.79529123303741312031e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(61,1.79529123306307172771e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(62,1.79529123321114563944e+09,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(63,1.7952912333095061779e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(64,1.79529123343292665478e+09,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(65,1.79529123357745766641e+09,12,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(66,1.79529123519471740721e+09,8,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','f3eb6a28');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [11, [], []]}');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	sizes JSON NOT NULL, 
	clusters JSON, 
	queue TEXT NOT NULL, 
	local TEXT, 
	home TEXT, 
	time_limit INTEGER NOT NULL, 
	submit_time FLOAT NOT NULL, 
	seq INTEGER NOT NULL, 
	queued_at FLOAT NOT NULL, 
	attempt INTEGER NOT NULL, 
	submission_failures INTEGER NOT NULL, 
	completion_failures INTEGER NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	deadline FLOAT, 
	goal TEXT, 
	"by" TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79529123134372544292e+09,1,1.79529123134372544292e+09,1,0,0,1.79529123136553549764e+09,1.79529123142361450192e+09,0,NULL,NULL,'');
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.79529123159315133094e+09,2,1.79529123159315133094e+09,1,0,1,1.79529123161875605587e+09,1.79529123163114261631e+09,3,NULL,NULL,'');
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1.79529123179857158661e+09,3,1.79529123179857158661e+09,1,0,0,1.79529123189433550836e+09,1.79529123196884727482e+09,0,NULL,NULL,'');
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1795291232.19253,0,0.0,0,0,0,NULL,1.7952912322758619785e+09,NULL,NULL,NULL,'root');
INSERT INTO "jobs" VALUES(5,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79529123236987447733e+09,4,1.79529123236987447733e+09,1,0,0,1.79529123237720203399e+09,NULL,NULL,NULL,NULL,'');
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.79529123257103323928e+09,5,1.79529123257103323928e+09,1,0,0,1.79529123265410041811e+09,NULL,NULL,1.79529486265410041811e+09,NULL,'');
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79529123279164743417e+09,6,1.79529123279164743417e+09,1,0,0,1.79529123280275607109e+09,NULL,NULL,NULL,NULL,'');
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1.79529123302678132062e+09,7,1.79529123302678132062e+09,1,0,0,1.79529123304275608063e+09,NULL,NULL,NULL,'cancel','root');
INSERT INTO "jobs" VALUES(9,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79529123321114563944e+09,8,1.79529123321114563944e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'');
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1.7952912333095061779e+09,9,1.7952912333095061779e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'');
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1.79529123343292665478e+09,10,1.79529123343292665478e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'');
INSERT INTO "jobs" VALUES(12,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79529123357745766641e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'');
CREATE TABLE scripts (
	job INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	request_id TEXT, 
	secret TEXT NOT NULL, 
	script BLOB NOT NULL, 
	spec JSON NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (user, request_id)
);
INSERT INTO "scripts" VALUES(1,'root','0cd8a633-32d2-4429-9883-6a6b6130530b','18ce2baedc1779c284096945',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(2,'root','c981ce33-4fa9-47dd-85c5-42d7783ff0c4','ca72e904dabfca795a988567',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["3", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(3,'root','f7d6f8f8-57e5-4c6c-89e0-54932e9e726f','d888a225333ae8cb295c1027',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(4,'root','617df570-7f48-4029-9379-15597ec453a5','aff4f6c2f5a123c22c11d4fe',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(5,'root','97879eca-b260-45d2-98b3-28c072d4b9d7','86eeb567bfbf142e6e84af03',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(6,'root','0891533b-4245-4e4c-a46c-6d74d89f56bc','e66b3fd2ca71ccef81838139',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(7,'root','once','ccfee82fb1cd6cd946f5fd6b',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(8,'root','197c1f38-ee23-4ff1-a1ab-e0d708bfdc0d','d6723190359cb36c1f9c8aea',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(9,'root','6d4c6e39-2bf7-4f30-a2b3-4256bef6a4cf','596adac3bfe4f9d6f5ed943c',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(10,'root','7c2a1d6d-8c03-4996-ba27-ff4efd1e80dd','f6552baaffb955faba2e970b',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(11,'root','8927e9cf-a447-4ba9-b1c8-4c74822244d4','72f3a3565fe7a4d36120d67c',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
INSERT INTO "scripts" VALUES(12,'root','23f054b4-7704-44d0-b218-47a9649a104e','864aef7976272fd066ab2161',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}}');
CREATE INDEX components_by_phase ON components (phase);
CREATE INDEX components_by_seq ON components (seq);
CREATE INDEX events_by_job ON events (job);
CREATE INDEX jobs_by_end ON jobs (end_time);
CREATE INDEX jobs_by_state ON jobs (state);
COMMIT;
