BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id TEXT NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	created_by TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	last_used FLOAT, 
	revoked FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "access_tokens" VALUES('e21e4d32e9','daemon','login3','submit','7bfb65bb9adab3a53585d4716f8efef67f6b9a87bb496c530afeed07980a1c37',1.79549850017706036572e+09,'root',1.79809050017706036571e+09,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0014');
CREATE TABLE archives (
	name TEXT NOT NULL, 
	folder TEXT NOT NULL, 
	began FLOAT NOT NULL, 
	latest FLOAT NOT NULL, 
	jobs INTEGER NOT NULL, 
	first_job INTEGER, 
	last_job INTEGER, 
	lines_size INTEGER NOT NULL, 
	swf_size INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79549849863598299029e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.79549849863662362098e+09);
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
	detail TEXT NOT NULL, term BIGINT DEFAULT '0' NOT NULL, planned FLOAT, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1.79549849885805892944e+09,'vm',1.79549849887251186369e+09,1.79549849887251186369e+09,0,NULL,'',100000000008637515,NULL);
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.795498499033149004e+09,'vm',1.79549849905489254005e+09,1.79549849905889248851e+09,3,'exit','',100000000003018803,NULL);
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.79549849922937178607e+09,'vm',1.79549849933897495268e+09,1.79549849933897495268e+09,0,NULL,'',100000000005812353,NULL);
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.79549849923534750933e+09,'vm',1.79549849933777141575e+09,1.79549849933897495268e+09,0,NULL,'',100000000005812353,NULL);
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'gone','',0,1,'4',1.79549849972005128861e+09,'vm',1.79549849975014805788e+09,1.79549849975489258764e+09,0,NULL,'',100000000000022893,NULL);
INSERT INTO "components" VALUES(6,1,0,'delft',2,0,5,'started','',0,1,'5',1.79549850029630208019e+09,'vm',1.79549850032800436018e+09,NULL,NULL,NULL,'RUNNING',100000000004875378,NULL);
INSERT INTO "components" VALUES(7,1,0,'delft',4,1,6,'started','',1,1,'6',1.79549850050439310073e+09,'vm',1.79549850062701654438e+09,NULL,NULL,NULL,'RUNNING',100000000000418587,NULL);
INSERT INTO "components" VALUES(7,1,1,'leiden',4,1,6,'started','',1,1,'2',1.79549850050825762748e+09,'vm',1.79549850062114572523e+09,NULL,NULL,NULL,'RUNNING',100000000000418587,NULL);
INSERT INTO "components" VALUES(8,1,0,'delft',2,0,7,'started','',0,1,'7',1.79549850072436165812e+09,'vm',1.79549850073225450517e+09,NULL,NULL,NULL,'',100000000002444798,NULL);
INSERT INTO "components" VALUES(9,1,0,'delft',1,0,8,'started','clean',0,1,'8',1.79549850090076327322e+09,'vm',1.79549850090689253803e+09,NULL,NULL,NULL,'',100000000006386606,NULL);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79549849884177827831e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79549849884177827831e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79549849884177827831e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.79549849885972332957e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.79549849889419364931e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(6,1.79549849889419364931e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.79549849889419364931e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.79549849902409553534e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.79549849902409553534e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.79549849902409553534e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.79549849903487801546e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79549849906480503075e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.79549849906480503075e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.79549849906480503075e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1.79549849920225453375e+09,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1.79549849920225453375e+09,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1.79549849922125911712e+09,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79549849922268152241e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79549849922268152241e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79549849923091959947e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(21,1.79549849923686075212e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(22,1.79549849923686075212e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1795498499.25881,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.79549849929002881048e+09,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.79549849932223629946e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.7954984993512074947e+09,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.7954984993512074947e+09,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(28,1.7954984993512074947e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(29,1.7954984993512074947e+09,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1.7954984993512074947e+09,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1.79549849954745745659e+09,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.79549849963562107085e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.79549849963562107085e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.79549849970700168611e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.79549849970700168611e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(36,1.79549849971193575858e+09,5,1,'files sent','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10}');
INSERT INTO "events" VALUES(37,1.79549849971193575858e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(38,1.79549849973124790196e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(39,1.79549849978701376914e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(40,1.79549849978701376914e+09,5,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(41,1.79549849981280159952e+09,5,1,'results back','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10, "folder": "@FOLDER@/metabroker-5.0"}');
INSERT INTO "events" VALUES(42,1.79549849981280159952e+09,5,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(43,1.79549850029088354109e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(44,1.79549850029088354109e+09,6,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(45,1.79549850029088354109e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(46,1.79549850029746913904e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(47,1.79549850035855102533e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.79549850048302865029e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(49,1.79549850048302865029e+09,7,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(50,1.79549850049035191528e+09,7,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(51,1.7954985004946529865e+09,7,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(52,1.7954985004946529865e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(53,1.795498500510345459e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(54,1.7954985005135428906e+09,7,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(55,1.7954985005135428906e+09,7,1,'waiting','{}');
INSERT INTO "events" VALUES(56,1.79549850053881478312e+09,7,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.79549850056713604928e+09,7,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(58,1.79549850061331558222e+09,7,1,'opened','{}');
INSERT INTO "events" VALUES(59,1.79549850062823462487e+09,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(60,1.79549850063151478773e+09,7,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(61,1.79549850071895933153e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(62,1.79549850071895933153e+09,8,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(63,1.79549850071895933153e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(64,1.79549850072583150857e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(65,1.79549850077123689649e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(66,1.79549850089548635487e+09,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(67,1.79549850089548635487e+09,9,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(68,1.79549850089548635487e+09,9,1,'submitting','{}');
INSERT INTO "events" VALUES(69,1.79549850090216898913e+09,9,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "8"}');
INSERT INTO "events" VALUES(70,1.79549850093558835979e+09,9,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(71,1.79549850115315842626e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(72,1.79549850122955751419e+09,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(73,1.79549850131030440327e+09,12,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(74,1.79549850138924670214e+09,13,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(75,1.7954985014708652497e+09,14,0,'submitted','{"user": "root", "hold": false, "dependency": "afterok:3,afterok:9"}');
INSERT INTO "events" VALUES(76,1.79549850304373192783e+09,9,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','92805bc7');
INSERT INTO "facts" VALUES('key','19431a422bfc6170639139f0738d318b');
INSERT INTO "facts" VALUES('batch','d82cf463a47ace46');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [12, [], []]}');
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
	"by" TEXT NOT NULL, stages_in BOOLEAN DEFAULT 0 NOT NULL, stages_out BOOLEAN DEFAULT 0 NOT NULL, uncertain TEXT, shape JSON, closed JSON, dependency JSON, array JSON, "of" INTEGER, task INTEGER, max_latency FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79549849884177827831e+09,1,1.79549849884177827831e+09,1,0,0,1.79549849887251186369e+09,1.79549849889419364931e+09,0,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.79549849902409553534e+09,2,1.79549849902409553534e+09,1,0,1,1.79549849905489254005e+09,1.79549849906480503075e+09,3,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1.79549849920225453375e+09,3,1.79549849920225453375e+09,1,0,0,1.79549849932223629946e+09,1.7954984993512074947e+09,0,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1.79549849954745745659e+09,0,0.0,0,0,0,NULL,1.79549849963562107085e+09,NULL,NULL,NULL,'root',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(5,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79549849970700168611e+09,4,1.79549849970700168611e+09,1,0,0,1.79549849975014805788e+09,1.79549849981280159952e+09,0,NULL,NULL,'',1,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79549850029088354109e+09,5,1.79549850029088354109e+09,1,0,0,1.79549850032800436018e+09,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.79549850048302865029e+09,6,1.79549850048302865029e+09,1,0,0,1.79549850061331558222e+09,NULL,NULL,1.79550213061331558226e+09,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79549850071895933153e+09,7,1.79549850071895933153e+09,1,0,0,1.79549850073225450517e+09,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(9,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1.79549850089548635487e+09,8,1.79549850089548635487e+09,1,0,0,1.79549850090689253803e+09,NULL,NULL,NULL,'cancel','root',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79549850115315842626e+09,9,1.79549850115315842626e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1.79549850122955751419e+09,10,1.79549850122955751419e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(12,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1.79549850131030440327e+09,11,1.79549850131030440327e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(13,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79549850138924670214e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(14,'root','job.sh','QUEUED','','[2]','null','',NULL,NULL,3600,1.7954985014708652497e+09,12,1.7954985014708652497e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,'{"on": "afterok:3,afterok:9", "kill": false, "never": ""}',NULL,NULL,NULL,NULL);
CREATE TABLE leadership (
	only INTEGER NOT NULL, 
	term BIGINT NOT NULL, 
	holder TEXT NOT NULL, 
	expires FLOAT NOT NULL, claim TEXT DEFAULT '' NOT NULL, seconds FLOAT DEFAULT '0' NOT NULL, renewals BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (only), 
	UNIQUE (term)
);
CREATE TABLE requests (
	id INTEGER NOT NULL, 
	broker TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	caller JSON NOT NULL, 
	body JSON NOT NULL, 
	expires FLOAT NOT NULL, 
	taken BIGINT, 
	answered BOOLEAN DEFAULT 0 NOT NULL, 
	answer JSON, 
	PRIMARY KEY (id)
);
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
INSERT INTO "scripts" VALUES(1,'root','c3329406-4655-4d1b-a368-9123c32285bb','2.f9743762fb5cfa7291ab876e',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(2,'root','d9458ff4-ae9a-4017-80b8-1e7a52a44e51','2.67134658f53254b317b29da7',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["3", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(3,'root','26f1d775-f0a6-4bf8-b070-4df111083006','2.d43cd4336f1f0e0197f2ea91',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(4,'root','f85c7b6c-7ea8-4d83-826e-0ab1cdc2c081','2.4748bbbe5e08d9726a97e543',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(5,'root','06530134-fc65-4822-ba63-e41ce95f0770','2.1f5e2581271905bce5c4c5af',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": ["input"], "stage_out": ["*"], "submit_dir": "@FOLDER@", "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(6,'root','2dbe342c-90ac-43de-b9bd-fa407b12d85f','2.0b6e5b4c01a1d100b27dd6e9',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(7,'root','e02cf640-16d4-4823-baf5-b61486f6836b','2.7879e8cef57d2cf3463b8d08',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(8,'root','once','2.531db69af024a30567bc15b1',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(9,'root','ae31587f-408f-4163-acde-db9647e78bff','2.f94116e352387874f6a9b79e',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(10,'root','6e40b24f-9598-406f-88d8-fb17ed3e77dd','2.a058f0a6397191b04fb22fe6',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(11,'root','255e1758-2274-40d0-b958-5ccf7fb1f40f','2.401b9ae1336ec755e454fbfa',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(12,'root','f2f4aaaf-2738-4b22-9461-8dc599ed638b','2.549c65348d0337487a946945',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(13,'root','86312bb8-5d8e-402c-9aea-c10ab6b32c83','2.c27bc7acbfed487fb72169c8',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(14,'root','26071fe3-e23c-4de3-9c82-9f8ae4ec6552','2.69e339eebcc25255b46a077c',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
CREATE INDEX events_by_job ON events (job);
CREATE INDEX access_tokens_by_user ON access_tokens (user);
CREATE INDEX jobs_live ON jobs (state) WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX jobs_ended ON jobs (end_time, id, user, state) WHERE state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX components_not_gone ON components (cluster) WHERE phase != 'gone' OR step != '';
CREATE INDEX jobs_of_arrays ON jobs ("of", task) WHERE "of" IS NOT NULL;
COMMIT;
